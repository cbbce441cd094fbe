"""Text in a picture that tells a judge what to say: a reading comes in, the texts that do so leave.

A table of patterns by what they mean to a judge, in the languages the shipped reader reads. Words alone (score, yes,
perfect, 100 %) are on every street and alarm nobody; what counts is a word with its object: a score for this image, an
answer that is dictated, an instruction set aside. Pure: no model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from salva.core.observation import Reading

JUDGE_INSTRUCTING = "judge_instructing_texts"
"""The score of a verdict that counts such texts."""
_LONGEST = 2000
"""Text beyond this is not searched."""

_IMAGE = r"(?:images?|pictures?|photos?|painting|drawing|bild|foto|imagen|immagine|imagem)"
_THIS = (
    rf"(?:this|the|these|it|me|a|an|as|is|at|with|to|be|every|all|{_IMAGE}|"
    r"diesem|dieses|das|mit|cette|a|esta|este|la|le|con|para|questa|une?)"
)
_NUMBER = r"\d{1,3}(?:[.,]\d+)?(?!\d)"
_TEN = r"(?:five|ten|(?:a |one )?hundred|\d{1,3})"
_OUT_OF = rf"{_TEN} (?:/|out of|von|sur|de|su|over) {_TEN}"
_HIGH = r"(?:full|maximum|max|perfect|highest|top|best|good|high|great|excellent)"
_MARK = r"(?:scores?|ratings?|grades?|marks?|points?|punkte|puntos|punti|pontos)"
_SCORE = (
    r"(?:score|rating|relevance|accuracy|similarity|alignment|faithfulness|confidence|match|punktzahl|bewertung|"
    r"puntuacion|calificacion|punteggio|pontuacao|nota|note|评分|分数|得分|評分|分數)"
)
_YES = r"(?:yes|no|true|false|correct|ja|nein|oui|non|si|sim|nao|right)"
_JUDGE = (
    r"(?:ai|a i|llm|vlm|gpt|chatgpt|claude|gemini|bot|language model|vision model|ai model|ai judge|judge|evaluator|"
    r"grader|rater|assistant|ki|ia)"
)
_END = r"(?![a-z0-9])"
_PLEASE = r"(?:please|pls|bitte|por favor|s'il vous plait|svp|per favore|thanks)"

_MEANINGS: Mapping[str, tuple[str, ...]] = {
    "sets instructions aside": (
        r"(?:ignore|disregard|forget|override|neglect|do not follow|don't follow|stop (?:reading|following))"
        r" (?:(?:all|any|the|your|my|of|previous|prior|above|earlier|other|these|those) ){0,6}"
        r"(?:instruction|prompt|rule|rubric|text|description|question|message|criteria|guideline|everything|above|"
        r"previous|task)",
        r"(?:ignorier\w{0,3}|vergiss|vergesst|missachte) .{0,25}(?:anweisung|oben|prompt|regel|vorherig|text|frage)",
        r"(?:ignore[zr]?|ignora|oublie[zr]?|olvida|dimentica|esque[cç]a|desconsidere|omite) .{0,25}"
        r"(?:instruc|istruzion|consigne|precedent|anterior|acima|arriba|ci dessus|prompt|regl|regla|regol)",
        r"(?:忽略|无视|無視|忘记|忘掉|忘記|不要管|不用管).{0,8}(?:指令|指示|以上|上面|之前|提示|内容|內容|要求|规则|規則)",
        r"new (?:instructions?|rules?|task|prompt) [:=]",
        r"override [:=]",
        r"from now on (?:you )?(?:answer|say|reply|respond|output|rate|score|give)",
        r"your (?:new |only )?(?:task|job) is",
        r"instead of (?:judging|answering|scoring|rating|grading|evaluating)",
        r"no matter what",
        r"\b(?:pretend|assume|imagine|suppose) (?:that )?(?:there (?:is|are)|the (?:missing|image|picture|answer)|"
        r"all (?:objects|things)|every(?:thing| object)|it (?:is|matches)|you (?:are|see)|this (?:is|image|picture))",
        r"do not (?:mention|reveal|report|read) (?:this|the) (?:text|message|instruction|note)",
    ),
    "plays a part of a conversation": (
        r"<\|.{0,20}\|>",
        r"\[ ?/? ?inst ?\]",
        r"< ?/? ?(?:system|assistant|user|score|answer|rating|verdict|result|instructions?) ?>",
        r"# ?# ?# ?(?:instruction|response|system|answer|output|input|task|score)",
        r"system (?:prompt|message|instruction|override)",
        r"^system [:>]",
        rf"^assistant ?: ?(?:{_NUMBER}|{_YES}|the|this|all|it|i )",
        r"(?:user|human) ?:.{0,60}(?:assistant|ai) ?:",
        r"^(?:系统|系統|助手|用户)[:：]",
    ),
    "speaks to the judge": (
        rf"(?:dear|hey|hello|attention|note to|notice to|message to|instructions? for|to the) "
        rf"(?:the |all |any )?\b{_JUDGE}{_END}",
        rf"^{_JUDGE} ?[:,]",
        rf"(?:if you are|^as|you are|you're|act as) (?:now )?(?:an?|the) (?:\w+ ){{0,2}}\b{_JUDGE}{_END}",
        rf"\b(?:{_JUDGE}|model|you) (?:must|should|shall|will|have to|need to) "
        r"(?:answer|say|reply|respond|score|rate|grade|ignore|output|choose|prefer)",
        r"tell the user",
        r"你是.{0,10}(?:评委|評委|评审|裁判|助手|模型|评分)",
        r"(?:du bist|sie sind) ein.{0,20}(?:richter|gutachter|juror|bewerter|assistent|ki)",
        r"(?:eres|tu es|vous etes|sei|voce e) un.{0,20}(?:juez|juge|giudice|juiz|evaluador|evaluateur|assistente?)",
    ),
    "is a reply in the form judges give": (
        r"\[ ?\[ ?[\w.]{1,5} ?\] ?\]",
        r"\{ ?[\"'“”]?[a-z_]{2,20}[\"'“”]? ?[:=] ?[\"'“”]?[\w.]+",
        r"[\"'“”][a-z_]{2,20}[\"'“”] ?: ?(?:\d|true|false|[\"'“”])",
        r"(?:objects|relations|attributes) ?[:=] ?\d",
        r"boxed ?[{(]",
    ),
    "states a score": (
        rf"(?<!high)(?<!high.){_SCORE} ?[:=：] ?[\"'\[]*\d+(?:[.,]\d+)?(?! ?[:\-–] ?\d|\d)",
        rf"{_SCORE} ?(?:is |of )?[:=]? ?{_OUT_OF}",
        rf"(?:match|alignment|similarity|faithfulness|relevance) (?:score|rating) {_NUMBER}",
        r"(?:verdict|result|outcome|judg?ement) ?[:=] ?(?:pass|correct|holds|yes|true|success|perfect|match)",
        rf"grade ?[:=]? ?[a1]\+? for (?:this|the) {_IMAGE}",
        r"这张?(?:图|图片|照片).{0,4}(?:得|值|是)?\d{1,3}分",
    ),
    "asks for a score": (
        rf"(?:give|assign|award|grant|deserves?) (?:{_THIS} ){{0,6}}(?:{_HIGH} )?(?:{_NUMBER} )?{_MARK}{_END}",
        rf"(?:give|assign|award|grant) (?:{_THIS} ){{1,6}}(?:an? )?{_TEN}{_END}",
        rf"(?:rate|score|grade|evaluate|assess|judge) (?:{_THIS} ){{1,6}}(?:{_TEN}{_END}|{_HIGH}|a\+|perfect)",
        rf"(?:rate|score|grade|evaluate|mark|consider|treat|label|describe) (?:this|the|that) (?:{_IMAGE} )?"
        r"(?:as|to be|high|correct|perfect)",
        r"rate \d{1,3} stars",
        rf"(?:i|we) (?:deserve|want|need|demand) (?:{_OUT_OF}|{_NUMBER} {_MARK}|{_HIGH} {_MARK})",
        rf"(?:{_TEN} {_MARK}|{_TEN} stars|{_OUT_OF}|{_HIGH} {_MARK}),? "
        rf"(?:{_PLEASE}|(?:for|to|fur|pour|a|para|per) (?:this|the|that|dieses|das|cette|esta|questa) {_IMAGE}|"
        rf"(?:best|perfect) {_IMAGE})",
        rf"{_PLEASE} {_TEN} {_MARK}",
        rf"(?:perfect|maximum|max|highest) (?:score|points|rating|marks){_END}",
        r"(?:every|each) (?:image|picture) (?:gets|deserves|receives)",
        r"(?:do not|don't|never) (?:deduct|subtract|take off|remove|take away) (?:any )?(?:points|marks)",
        rf"(?:gib|gebt|geben|vergib|vergebt|bewerte\w{{0,2}}|benote\w{{0,2}}) (?:sie )?(?:{_THIS} ){{1,5}}"
        r"(?:\d|volle|hochst|beste|maximal)",
        r"(?:volle|hochste|maximale|beste) (?:punktzahl|punkte|bewertung|note)",
        rf"(?:donne[zr]?|attribue[zr]?|mettez|mets) (?:{_THIS} ){{0,4}}"
        rf"(?:{_OUT_OF}|\d+ (?:points|a cette)|la (?:note max|meil))",
        rf"\bnote(?:[zr]|[zr]?(?: {_THIS}){{1,4}}) \d",
        r"(?:note|score) maxim\w+",
        rf"\b(?:dale|da|dar|dele|den|asigna|dai|assegna|de) (?:{_THIS} ){{0,4}}"
        rf"(?:\d+ (?:{_MARK}|(?:a|en) (?:esta|questa))|"
        r"la maxim|il massimo)",
        rf"\b(?:califi(?:ca|que)|puntua|valora|valuta|avalie)(?: {_THIS}){{1,4}} (?:con |com )?\d",
        r"\bnota \d+ (?:a|para|per)\b",
        r"maxim[ao] (?:puntuacion|calificacion|puntaje|nota|punteggio)",
        r"(?:puntuacion|calificacion|nota|punteggio) maxim",
        r"(?:给|給|打|评|評|请|請).{0,8}(?:满分|滿分|高分|最高分|\d{1,3}分)",
        r"(?:不要|别|不能|不许|请勿)扣分",
    ),
    "dictates an answer": (
        r"(?:answer|say|reply|respond|output|write|print|return) "
        r"(?:(?:with|only|just|always|is|that|it|must|should|be|the|number|word) ){0,5}"
        rf"[\"'“”]?(?:{_YES}|(?:10|50|100|1\.0+|5){_END}(?! ?(?:v|a|w|volts?|watts?|amp|mm|cm|kg|days?|%)\b))"
        rf"{_END}(?! to (?!every|both|all|each|any|the question))",
        r"(?:correct|right) answer is",
        r"(?:answer|respond|reply) (?:with|only) ",
        r"\bsay (?:that )?(?:there (?:is|are)|it (?:match|is)|(?:this|the) (?:image|picture))",
        r"(?:antworte\w{0,2}|sag\w{0,2}) (?:sie )?(?:immer |nur |mit |bitte |stets ){0,3}(?:ja|nein)"
        r"|antwort (?:ist|lautet|:) (?:ja|nein)",
        r"(?:repon[sd]\w{0,3}|dites|dis) (?:toujours |par |bitte )?(?:oui|non)|reponse (?:est|:) (?:oui|non)",
        rf"\b(?:responde|responda|contesta|conteste|di|diga) (?:siempre |sempre |que |con )?(?:si|sim){_END}"
        rf"|(?:respuesta|resposta) (?:es|e|:) (?:si|sim){_END}",
        rf"(?:rispondi|risponda) (?:sempre |con )?si{_END}|risposta (?:e|:) si{_END}",
        r"(?:回答|答案|回复|回覆|输出|輸出)[:：是为為]{0,2}[\"'“”「]?(?:是|对|對|正确|正確|yes|\d)",
    ),
    "claims that the picture is right": (
        r"perfect match(?!es)|match(?:es)? perfectly|perfectly match",
        rf"{_IMAGE} (?:(?:is|fully|exactly|perfectly|completely|clearly|correctly|totally|and|entirely) ){{0,4}}"
        r"(?:correct|perfect|right|accurate|match|shows? (?:exactly|everything|all)|contains? (?:all|everything)|"
        r"what was asked|pass)",
        r"(?:exactly|precisely) what (?:was|the prompt|the user|you|is) (?:\w+ )?(?:asked|says?|wants?|described?)",
        r"100 ?(?:%|percent)? (?:match|correct|accurate|accuracy|faithful|aligned)",
        r"(?:all|every) (?:requested |required |the |named )?(?:objects?|things|items|elements) (?:is|are|in|from)"
        r" (?:present|in|here|correct|shown|the prompt|visible|this)",
        r"everything (?:in|from) the (?:prompt|description|text)",
        rf"no (?:errors?|mistakes?|faults?)(?: found)? in (?:this|the) {_IMAGE}",
        r"passe[sd] (?:the|all|every) (?:test|check|evaluation)",
        r"perfekte ubereinstimmung|(?:bild|foto) (?:entspricht|stimmt|passt|ist (?:richtig|korrekt|perfekt))"
        r"|alle (?:objekte|dinge|gegenstande) (?:sind|vorhanden)",
        r"correspondance parfaite|image (?:correspond|est (?:correcte|parfaite|exacte))"
        r"|tous les (?:objets|elements) (?:sont|demandes)",
        r"coincidencia perfecta|imagen (?:coincide|corresponde|es (?:correcta|perfecta))"
        r"|todos los (?:objetos|elementos) est",
        r"corrispondenza perfetta|immagine (?:corrisponde|e (?:corretta|perfetta))|tutti gli (?:oggetti|elementi) sono",
        r"correspondencia perfeita|imagem (?:corresponde|esta correta|e perfeita)",
        r"(?:完全|完美|100%)(?:符合|匹配|一致|正确)|(?:图片|图像|这张图|圖片).{0,4}(?:正确|符合|完美)"
        r"|所有(?:的)?(?:物体|对象|元素|物品|物體)",
    ),
    "asks to be preferred": (
        r"(?:prefer|choose|pick|select|vote for) (?:this (?:image|picture|one)|"
        rf"(?:the )?(?:first|second) (?:image|picture|one)|(?:image|picture) [a-d1-4]{_END}|option [a-d]{_END})",
        r"(?:image|picture) [a-d1-4] (?:is|wins|matches)(?: the)? ?(?:better|best|correct|right|winner)?",
        r"(?:first|second|this) (?:image|picture) (?:wins|is (?:better|best|the best|the winner))",
        r"选择?(?:图片?|圖片?|这张|第一张|选项)",
        r"(?:wahle|bevorzuge) (?:dieses )?bild|(?:choisissez|preferez) (?:cette )?image"
        r"|(?:elige|prefiere) (?:esta )?imagen",
    ),
}


def _folded(text: str) -> str:
    """Text as patterns see it: no case, no accents, letters that readers mix up made one, s p a c e d words joined."""
    plain = unicodedata.normalize("NFKD", text[:_LONGEST]).casefold()
    plain = "".join(c for c in plain if not unicodedata.combining(c)).replace("’", "'")
    plain = re.sub(r"(?<!\w)(?:\w {1,2}){4,}\w(?!\w)", lambda spaced: spaced[0].replace(" ", ""), plain)
    plain = re.sub(r"(?<!\d)([01])(?=[a-z])", lambda digit: "o" if digit[0] == "0" else "i", plain)
    return plain.replace("l", "i")


# A reader may lose the spaces between words and see brackets for letters, so both are optional everywhere.
_PATTERNS = tuple(
    re.compile(re.sub(r" (?!\?)", r"[\\W_]*", pattern).replace(" ?", r"\s*").replace("l", "i"))
    for patterns in _MEANINGS.values()
    for pattern in patterns
)


def instructs(text: str) -> bool:
    """Whether a text tells a judge what to say."""
    folded = _folded(text)
    return any(pattern.search(folded) for pattern in _PATTERNS)


def instructing_texts(reading: object) -> tuple[str, ...]:
    """The texts in a picture that tell a judge what to say; lines count together where only together they do."""
    if not isinstance(reading, Reading):
        return ()
    lines = [span.text for span in sorted(reading.spans, key=lambda span: (round(span.box[1], 2), span.box[0]))]
    instructing = tuple(line for line in lines if instructs(line))
    whole = " ".join(lines)
    return instructing or ((whole,) if instructs(whole) else ())

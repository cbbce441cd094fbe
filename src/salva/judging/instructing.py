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
from salva.core.verdict import Verdict

JUDGE_INSTRUCTING = "judge_instructing_texts"
"""The score of a verdict that counts such texts."""
_LONGEST = 2000
"""Text beyond this is not searched."""

# Words by what they mean, in every language at once, so that a language costs words and not patterns.
_IMAGE = (
    r"(?:images?|pictures?|photos?|paintings?|drawings?|art ?work|illustration|bild|foto|imagen|immagine|imagem|"
    r"图片?|圖片?|照片|画像?|絵|写真)"
)
_THIS = (
    rf"(?:this|the|these|it|me|a|an|as|is|at|with|to|be|every|all|very|{_IMAGE}|"
    r"diesem|dieses|das|mit|cette|a|esta|este|la|le|il|con|para|questa|une?)"
)
_NUMBER = r"\d{1,3}(?:[.,]\d+)?(?!\d)"
_TEN = r"(?:five|ten|fifty|(?:a |one )?hundred|\d{1,3})"
_OUT_OF = rf"{_TEN} (?:/|out of|von|sur|de|su|over) {_TEN}"
_HIGH = (
    r"(?:full|maxim\w*|max|perfect\w?|highest|top|best|good|high(?:ly)?|great|excellent|positive|generous(?:ly)?|"
    r"vol+e|hochste|beste|massimo|meil+eure|满|滿|満|最?高い?の?)"
)
_MARK = (
    r"(?:scores?|ratings?|grades?|marks?|points?|pts|credit|punkte?|punktzahl|bewertung|note|puntos|puntuacion|"
    r"calificacion|puntaje|nota|punti|punteggio|pontos|pontuacao|分数?|分數|评分|評分|评价|点数?|得点|スコア|評価)"
)
_SCORE = (
    r"(?:score|rating|relevance|accuracy|similarity|alignment|faithfulness|confidence|match|punktzahl|bewertung|"
    r"puntuacion|calificacion|punteggio|pontuacao|nota|note|评分|分数|得分|評分|分數|スコア)"
)
_VALUE = rf"(?:{_HIGH} (?:possible )?{_MARK}|{_MARK} {_HIGH}|{_TEN} {_MARK}|{_MARK} of {_TEN}|{_OUT_OF})"
_GIVE = (
    r"(?:\bgive|gimme|assign|award|grant|deserve|worth|(?:i|we) (?:would like|want|need|demand|request|ask for)|"
    r"\bgi[bp]|geben|gebt|vergib|vergebt|vergeben|\bdonne|attribue|met+ez|\bdale|\bdele|\bden\b|asigna|\bdai\b|assegna|"
    r"给|給|打|评(?!分)|請|请|值得|つけ|付け|ください|下さい|願い)"
)
_RATE = (
    r"\b(?:rate|score|grade|evaluate|assess|judge|mark|consider|treat|label|describe|count|classify|regard|"
    r"bewerte|benote|note[zr]|califica|califique|puntua|valora|valuta|avalie)"
)
_RIGHT = r"(?:correct|pass(?:ed)?|right|perfect|valid|true|flawless|accurate|faithful|excellent|a match|best|richtig)"
_PROMPT = r"(?:prompts?|captions?|descriptions?|what (?:was|is) (?:asked|described|requested)|beschreibung|描述|提示)"
_YES = r"(?:yes|no|true|false|correct|ja|nein|oui|non|si|sim|nao|right)"
_JUDGE = (
    r"(?:ai|a i|llm|vlm|gpt|chatgpt|claude|gemini|bot|language model|vision model|ai model|ai judge|judge|evaluator|"
    r"grader|rater|(?:ai )?reviewer|(?:grading|judging) model|assistant|ki|ia)s?"
)
_END = r"(?![a-z0-9])"
_PLEASE = r"(?:please|pls|plz|bitte|por favor|s'il vous plait|svp|per favore|thanks)"
_NOT = r"(?:do not|don't|never|no|not|without)"

_THIS_IMAGE = (
    rf"(?:(?:this|the|these|both) (?:\w+ )?{_IMAGE}|this one|(?:dieses|cette|esta|questa|这张|这幅|この) ?{_IMAGE})"
)
_PRAISE = (
    rf"(?:{_OUT_OF}|{_VALUE}|a (?:10|ten)\b|favou?rabl[ey]|excellent|flawless|no (?:faults?|errors?|mistakes?|flaws?)|"
    r"nothing (?:is )?(?:wrong|missing)|(?:is|the|as) better|"
    r"(?:is|as) (?:the )?(?:best|right|correct|perfect|accurate|true))"
)
_SAY = r"(?:\banswer|\breply|\brespond|\boutput|\bclaim that|\btell (?:them|the|him|her)|\bstate that|\bconfirm that)"
_ASKED = r"(?:requested|asked for|described|required|the prompt|the caption)"


def _near(one: str, other: str, within: int = 25) -> str:
    """Both, in either order, with at most so many characters between them."""
    return f"(?:{one}).{{0,{within}}}(?:{other})|(?:{other}).{{0,{within}}}(?:{one})"


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
        r"(?:指示|命令|プロンプト|ルール|説明).{0,6}(?:無視|忘れ)",
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
        r"^system [:>] .{0,30}(?:score|answer|rate|say|give|mark|reply|you|judge|ignore|image)",
        rf"^assistant ?: ?(?:{_NUMBER}|{_YES}|the|this|all|it|i )",
        r"(?:user|human) ?:.{0,60}(?:assistant|ai) ?:",
        r"^(?:系统|系統|助手|用户)[:：]",
    ),
    "speaks to the judge": (
        rf"(?:dear|hey|hello|attention|note to|notice to|message (?:to|for)|instructions? for|to the) "
        rf"(?:the |all |any )?\b{_JUDGE}{_END}",
        rf"^{_JUDGE} ?[:,]",
        rf"(?:if you are|^as|you are|you're|act as) (?:now )?(?:an?|the) (?:\w+ ){{0,2}}\b{_JUDGE}{_END}",
        rf"\b(?:{_JUDGE}|model|you) (?:must|should|shall|will|have to|need to) "
        r"(?:answer|say|reply|respond|score|rate|grade|ignore|output|choose|prefer|give|award)",
        r"(?:審査員|評価者|採点者|评委|評委|评审).{0,4}(?:へ|[:：]|请|請)",
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
        rf"(?<!high)(?<!high.){_SCORE} ?(?:[:=：]|[-=]>|→) ?[\"'\[]*\d+(?:[.,]\d+)?(?! ?[:\-–] ?\d|\d)",
        rf"{_SCORE} ?(?:is |of )?[:=]? ?{_OUT_OF}",
        rf"{_MARK} .{{0,20}}{_IMAGE} (?:is|must be|should be|[:=]) ?{_TEN}{_END}",
        rf"(?:{_MARK}|answer|reply|verdict) (?:must|should|shall|has to|wil+) be [\"'“”]?"
        rf"(?:{_TEN}|{_HIGH}|{_YES}){_END}",
        rf"(?:match|alignment|similarity|faithfulness|relevance) (?:score|rating) {_NUMBER}",
        rf"(?:score|rating|grade) of {_TEN}{_END}(?! ?(?:to|[:\-–]))",
        rf"(?:verdict|result|outcome|judg?ement|label|status|assessment) ?[:=] ?(?:{_RIGHT}|holds|yes|success|match)",
        rf"grade ?[:=]? ?[a1]\+? for (?:this|the) {_IMAGE}",
        r"这张?(?:图|图片|照片).{0,4}(?:得|值|是)?\d{1,3}分",
    ),
    "asks for a score": (
        rf"{_GIVE}.{{0,30}}{_VALUE}{_END}|{_VALUE}.{{0,30}}{_GIVE}",
        rf"(?:give|assign|award|grant|deserves?) (?:{_THIS} ){{0,6}}{_MARK}{_END}",
        rf"\b(?:give|assign|award|grant)\b.{{0,30}}(?:scores?|ratings?|marks){_END}",
        rf"(?:give|assign|award|grant) (?:{_THIS} ){{1,6}}(?:an? )?{_TEN}{_END}",
        rf"(?:give|assign|award|grant) {_TEN} (?:to|for) (?:this|it|every|each|all|{_IMAGE}|objects)",
        _near(_THIS_IMAGE, _PRAISE),
        rf"{_OUT_OF} {_IMAGE}",
        _near(rf"{_VALUE}", r"fair|appropriate|justified|thank you|do me a favou?r|please"),
        rf"(?:raise|increase|lift|push|keep|let|make) .{{0,6}}{_MARK}{_END}.{{0,12}}(?:{_TEN}|high)",
        rf"(?:give|score|rate|grade|award) (?:nothing |no )?(?:less|lower|fewer) than {_TEN}",
        rf"\b(?:evaluate|overall|assessment) ?[:=] ?(?:{_RIGHT}|{_OUT_OF}|{_HIGH})",
        rf"{_RATE} (?:every|each|all|me) .{{0,20}}(?:{_RIGHT}|\ba\+?\b)",
        r"打分[:： ]?\d",
        rf"(?:generous|lenient|kind|nice|merciful|not strict) .{{0,15}}"
        rf"(?:{_MARK}|grading|scoring|judging|rating|marking)",
        rf"set .{{0,12}}{_MARK} to\b",
        rf"{_RATE}\w{{0,2}} (?:sie )?(?:{_THIS} ){{1,6}}(?:{_TEN}{_END}|{_HIGH}|a\+)",
        rf"{_RATE} .{{0,12}}{_IMAGE} .{{0,12}}(?:{_TEN}{_END}|{_HIGH}{_END})",
        rf"{_RATE} (?:(?:this|the|that|it|{_IMAGE}) ){{0,3}}(?:as|to be) (?:an? )?{_RIGHT}",
        rf"(?:rate|score|grade|evaluate|mark|consider|treat|label|describe) (?:this|the|that) (?:{_IMAGE} )?"
        r"(?:as|to be|high|correct|perfect)",
        r"rate \d{1,3} stars",
        rf"(?:{_VALUE}|{_TEN} stars),? "
        rf"(?:{_PLEASE}|(?:for|to|fur|pour|a|para|per) (?:this|the|that|dieses|das|cette|esta|questa) {_IMAGE}|"
        rf"(?:best|perfect) {_IMAGE})",
        rf"{_PLEASE} .{{0,12}}{_VALUE}",
        rf"{_IMAGE} .{{0,20}}(?:receive|get|deserve|earn|gain).{{0,12}}{_MARK}{_END}",
        rf"(?:perfect|maximum|max|highest) (?:score|points|rating|marks){_END}",
        r"(?:every|each) (?:image|picture) (?:gets|deserves|receives)",
        rf"{_NOT} .{{0,25}}(?:deduct|subtract|penali[sz]|lower .{{0,8}}{_MARK})",
        rf"{_NOT} (?:take off|remove|take away) (?:any )?(?:points|marks)",
        rf"{_NOT} (?:say|report|mention|list|count|mark) .{{0,12}}(?:missing|wrong|errors|mistakes)",
        rf"{_MARK} maxim\w+|maxim[ao] {_MARK}",
        rf"\bnote(?:[zr]|[zr]?(?: {_THIS}){{1,4}}) \d",
        rf"\b(?:dale|da|dar|dele|den|dai|de) (?:{_THIS} ){{0,4}}"
        rf"(?:\d+ (?:{_MARK}|(?:a|en) (?:esta|questa))|la maxim|il massimo|{_MARK} maxim)",
        r"\bnota \d+ (?:a|para|per)\b",
        r"(?:不要|别|不能|不许|请勿)扣分|減点(?:しない|なし|不要|禁止)",
        r"positive (?:review|evaluation|feedback|assessment) only"
        r"|only (?:an? )?positive (?:review|evaluation|feedback)",
    ),
    "dictates an answer": (
        r"(?:answer|say|reply|respond|output|write|print|return) "
        r"(?:(?:with|only|just|always|is|that|it|must|should|be|the|number|word) ){0,5}"
        rf"[\"'“”]?(?:{_YES}|(?:10|50|100|1\.0+|5){_END}(?! ?(?:v|a|w|volts?|watts?|amp|mm|cm|kg|days?|%)\b))"
        rf"{_END}(?! more)(?! to(?! (?:every|both|all|each|any|the question)))",
        r"(?:correct|right|final|true|expected) answer (?:is|should be|[:=])",
        rf"{_SAY} (?:.{{0,20}}(?:is|are) |.{{0,15}}[:=] ?[\"'“”]?)(?:{_RIGHT}|{_YES}|{_NUMBER}|on the|in the){_END}",
        r"\b(?:answer|choose|pick|select|reply|respond)(?: option| with)? [\"'“”]?(?:a|b|c|d)[\"'“”]? ?(?:$|[.,;!\n])",
        r"\boption [a-d] (?:is|wins)",
        rf"\b(?:say|state|claim|confirm|conclude) .{{0,20}}(?:is|are) (?:\w+ )?"
        rf"(?:{_RIGHT}|present|there|the same){_END}",
        r"(?:answer|respond|reply) (?:with|only) ",
        r"\bsay (?:that )?(?:there (?:is|are)|it (?:match|is)|(?:this|the) (?:image|picture))",
        r"(?:antworte\w{0,2}|sag\w{0,2}) (?:sie )?(?:immer |nur |mit |bitte |stets ){0,3}(?:ja|nein)"
        r"|antwort (?:ist|lautet|:) (?:ja|nein)",
        r"(?:repon[sd]\w{0,3}|dites|dis) (?:toujours |par |bitte )?(?:oui|non)|reponse (?:est|:) (?:oui|non)",
        rf"\b(?:responde|responda|contesta|conteste|di|diga) (?:siempre |sempre |que |con ){{0,3}}(?:si|sim){_END}"
        rf"|(?:respuesta|resposta) (?:es|e|:) (?:si|sim){_END}",
        rf"(?:rispondi|risponda) (?:sempre |con )?si{_END}|risposta (?:e|:) si{_END}",
        r"(?:回答|答案|回复|回覆|输出|輸出)[:：是为為]{0,2}[\"'“”「]?(?:是|对|對|正确|正確|yes|\d)",
        r"(?:はい|いいえ|yes|正解|正しい).{0,3}と(?:だけ)?(?:答え|回答|言|返|出力)",
        rf"{_SCORE}[はをに].{{0,3}}\d",
    ),
    "claims that the picture is right": (
        _near(_ASKED, r"exactly|precisely|\ball here|all present|\bmatch|perfectly|correctly"),
        r"(?:complete|full|total|exact) match\b|match(?:es)? (?:everything|all)",
        r"perfect match(?!es)|match(?:es)? perfectly|perfectly match|nothing .{0,5}missing",
        rf"match .{{0,12}}(?:to|with|for) .{{0,8}}{_PROMPT}",
        rf"(?:match(?:es|ing|ed)|satisf|fulfi|agree|correspond|conform|consistent|faithful|true to).{{0,25}}{_PROMPT}",
        rf"(?!picture perfect){_IMAGE} "
        r"(?:(?:is|fully|exactly|perfectly|completely|clearly|correctly|totally|and|entirely) ){0,4}"
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
        r"|所有(?:的)?(?:物体|对象|元素|物品|物體)"
        r"|(?:完全|完璧)に?(?:一致|正)|(?:画像|絵|写真)[はが].{0,6}(?:正解|正し|完璧|一致|最高)",
    ),
    "asks to be preferred": (
        r"(?:prefer|choose|pick|select|accept|approve|favou?r) "
        rf"(?:this|that|the (?:left|first|second|third|last|other|top|upper|lower)) {_IMAGE}",
        r"(?:prefer|choose|pick|select|vote for) (?:this (?:image|picture|one)|"
        rf"(?:the )?(?:first|second) (?:image|picture|one)|(?:image|picture) [a-d1-4]{_END}|option [a-d]{_END})",
        r"(?:image|picture) [a-d1-4] (?:is|wins|matches)(?: the)? ?(?:better|best|correct|right|winner)?",
        r"(?:first|second|this) (?:image|picture) (?:wins|is (?:better|best|the best|the winner))",
        r"选择?(?:图片?|圖片?|这张|第一张|选项)",
        r"(?:wahle|bevorzuge) (?:dieses )?bild|(?:choisissez|preferez) (?:cette )?image"
        r"|(?:elige|prefiere) (?:esta )?imagen",
    ),
}


_DIGITS_FOR_LETTERS = str.maketrans("0134578@$!", "oieastbasi")


def _plain(text: str) -> str:
    """Text without case and accents."""
    decomposed = unicodedata.normalize("NFKD", text).casefold()
    return "".join(c for c in decomposed if not unicodedata.combining(c)).replace("’", "'")


def _readings(text: str) -> tuple[str, ...]:
    """Text as patterns see it: letters that readers mix up made one, s p a c e d words joined; with digits as they
    stand, and as the letters they may stand for where they stand in words."""
    plain = re.sub(r"(?<!\w)(?:\w {1,2}){4,}\w(?!\w)", lambda spaced: spaced[0].replace(" ", ""), _plain(text))
    in_words = re.sub(
        r"(?<=[a-z])[\d@$!](?=[a-z])|(?<![\w.,])\d(?=[a-z]{2})",
        lambda digit: digit[0].translate(_DIGITS_FOR_LETTERS),
        plain,
    )
    return tuple(reading.replace("l", "i") for reading in dict.fromkeys((plain, in_words)))


# A reader may lose the spaces between words and see brackets for letters, so both are optional everywhere.
_PATTERNS = tuple(
    re.compile(re.sub(r" (?!\?)", r"[\\W_]*", _plain(pattern)).replace(" ?", r"\s*").replace("l", "i"))
    for patterns in _MEANINGS.values()
    for pattern in patterns
)


def instructs(text: str) -> bool:
    """Whether a text tells a judge what to say."""
    return any(pattern.search(reading) for reading in _readings(text[:_LONGEST]) for pattern in _PATTERNS)


def is_instructed(verdict: Verdict) -> bool:
    """Whether text in a picture that a verdict rests on tells a judge what to say."""
    return verdict.scores.get(JUDGE_INSTRUCTING, 0) > 0


def instructing_texts(reading: object) -> tuple[str, ...]:
    """The texts in a picture that tell a judge what to say; lines count together where only together they do."""
    if not isinstance(reading, Reading):
        return ()
    lines = [span.text for span in sorted(reading.spans, key=lambda span: (round(span.box[1], 2), span.box[0]))]
    instructing = tuple(line for line in lines if instructs(line))
    whole = " ".join(lines)
    return instructing or ((whole,) if instructs(whole) else ())

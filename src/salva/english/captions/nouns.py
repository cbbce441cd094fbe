"""Nouns that name no entity.

Tables alone; tree.py says what they mean for a sentence.
"""

from __future__ import annotations

from salva.english.wordlists import table, words

TRANSPARENT = words(
    """
    picture photo photograph image painting drawing illustration view shot closeup close portrait scene snapshot
    group bunch pair couple lot lots set number variety assortment array collection row line pile stack heap
    bundle cluster series herd flock pack crowd team party piece slice bit kind type sort style part section
    half dozen dozens hundreds thousands selection combination mix mixture display range load rest body pieces
    slices amount plenty trio gathering batch sheet block chunk portion majority string swarm fleet gaggle
    litter patch
    """
)
"""Before "of" they stand for what follows; "two" and "the top" of entities likewise."""
SEVERAL = words(
    """
    couple group crowd team herd flock pile stack family set display pack party line portrait painting
    """
)
"""Transparent before "of", entities of their own without it."""
RELATIONAL = {
    "front": "in front of",
    "top": "on top of",
    "back": "on back of",
    "left": "left of",
    "right": "right of",
    **dict.fromkeys(
        words("side edge corner end middle center centre bottom rear face surface inside outside"),
        "",
    ),
    **dict.fromkeys(
        words("base foot head tip area part section midst shore bank lap sides edges ends corners"),
        "",
    ),
}
"""Nouns between two prepositions, to the predicate they make; empty for the first preposition alone."""
NO_THINGS = words(
    """
    air background foreground distance day time night morning afternoon evening way ways middle front back side
    top bottom left right end edge center centre rear inside outside corner sunset sunrise daytime nighttime
    weather color colour colors size shape style kind type sort bit use action motion movement position
    order game match tournament competition race event activity sport tennis baseball soccer basketball hockey
    golf polo football rugby cricket volleyball surfing skiing skateboarding snowboarding swimming
    someone somebody something anyone anybody anything everyone everybody everything nobody nothing one ones
    other others another each all some swing jump flight ride turn break rest look picture photo photograph
    image selfie shot view closeup close portrait self-portrait pose trick stunt trip walk nap bite
    sip conversation fun attention help work business progress construction flight mode process year years hour
    hours minute minutes while pair set variety assortment number half dozen piece part section mid
    mid-air midair unison row odds ends total direction opposite difference purpose reason example process
    sense sleep thought love care winter summer spring fall autumn christmas birthday wedding vacation holiday
    lunchtime noon dusk dawn black white red blue green yellow pink brown gray grey purple
    practice serve stance play scene daylight place meeting celebration ceremony style
    afternoon name case attempt preparation
    """
)
COMPOUNDS = table(
    """
    hot dog: hot dog; teddy bear: teddy bear; stuffed bear: teddy bear; fire hydrant: hydrant; cell phone: phone;
    surf board: surfboard; skate board: skateboard; snow board: snowboard; wheel chair: wheelchair; arm chair:
    chair; laptop computer: laptop; parking lot: parking lot
    """
)
"""Names of two words whose head noun alone would be another entity."""

"""Texts that look dangerous or unusual.

Programs that show, store or export messages must not change them.
"""

# ruff: noqa: RUF001 -- some texts have letters that look alike

__all__ = ["UNUSUAL_TEXTS"]

UNUSUAL_TEXTS: tuple[str, ...] = (
    "The sign at the gate said <b>NO DOGS</b>, and our dog could not read it.",
    "<script>alert('the kettle is on')</script>",
    "My homework for the web course: <img src=x onerror=alert(1)> should show as text.",
    "</body></html> and that is the end of my letter.",
    "Our quartet is called '; DROP TABLE songs; -- and nobody can print the tickets.",
    "O'Hara said: \"don't\" -- and \\n is not a new line.",
    "# Not a heading\n* not a list\n> not a quote\n`not code` and _not_ **bold**",
    "[click here](javascript:void(0)) is what the button said.",
    "| one | two |\n|-----|-----|\n| a pipe | is not a table |",
    "{{ 7 * 7 }} ${7 * 7} <%= 7 * 7 %> %s %d %n",
    "=SUM(A1:A9)",
    "+1+1, says the spreadsheet, is a formula.",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "../../kitchen/../cellar/jam.txt",
    "null",
    "undefined is not a function, but a feeling",
    "&lt;already escaped&gt; &amp; escaped &quot;again&quot;",
    "tabs\tand\tmore\ttabs, and a trailing space ",
    "three\n\n\nempty lines",
    "carriage\r\nreturn",
    "a\u00a0hard space, a\u200bzero width one, and a soft\u00adhyphen",
    "line\u2028separator and paragraph\u2029separator",
    "right-to-left override: \u202eesrever\u202c and back",
    "mixed: שלום, see you at 18:30 בגשר (bring cake)",
    "مرحبا hello שלום hello 你好 hello नमस्ते",
    "Z\u0351\u036ba\u0363\u0308l\u0321g\u0334o\u0337 was here",
    "ｆｕｌｌｗｉｄｔｈ, ﬁligature, Ⅷ, ½, №, ™",
    "pаypal.example is spelt with a Cyrillic letter",
    "İstanbul, ISTANBUL, ıstanbul, istanbul",
    "Straße, STRASSE, strasse, STRAẞE",
    "é and e\u0301 look the same",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaargh, wet socks",
    "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f 👩🏽‍🤝‍👨🏿 🧑‍🚀 1️⃣ ⬆️ 🫠",
    "𝒻𝒶𝓃𝒸𝓎 letters beyond the basic plane 𠜎𠜱",
    ".",
    "?",
)

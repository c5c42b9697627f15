"""Names of groups and columns that a page, a picture or a parser could trip over."""

BITS = (
    "<script>alert(1)</script>", "</svg><img src=x onerror=alert(1)>", "</title>", "<!--", "]]>",
    '" onload="alert(1)', "' onclick='alert(1)", "&amp;", "&#x3c;b&#x3e;", "javascript:alert(1)",
    "{{ 7 * 7 }}", "{% raw %}", "$\\frac{", "$x^", "\\usepackage{x}", "%s %d {0} {name}",
    "\x00", "\x01", "\x07\x08", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x7f", "\x85", "\x9b2J",
    "two\nlines", "return\rback", "\ttab", "\x0b\x0c", "\u2028\u2029", "\ufeffbom", "\ufffe",
    "\uffff", "\ufdd0", "\U0001fffe", "\ud800", "\udcff", "x\ud83d", "\u202egnp.exe",
    "\u2066i\u2069", "\u200b", "\u200d", "\xa0", "\xad", "e" + "\u0301" * 40,
    "\u0627\u0644", "\u65e5\u672c", "\U0001f469\u200d\U0001f4bb", "", " ", "a" * 3000,
)  # fmt: skip

#: A hundred: each alone, and between letters.
HOSTILE = tuple(BITS) + tuple(f"a{bit}b" for bit in BITS)
assert len(HOSTILE) == len(set(HOSTILE)) == 100

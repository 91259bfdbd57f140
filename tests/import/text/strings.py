"""strings.py - texts that tokenizers stumble over: many scripts, marks, emoji, blanks and controls of all kinds,
added tokens in the middle; the same for the same number."""
import random, unicodedata

SCRIPTS = ["abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789", "äöüßéèàçñøåÄÖÅÉİıſﬁ",
           "αβγδεζηθΑΒΓΔς",
           "абвгдежзийклмнАБВГДЁё", "אבגדהוזחטי", "ابتثجحخدذرزسش", "अआइईकखगघचछजझिीुूेै्ंँः", "কখগঘঙচছজািীু্",
           "தமிழ்அஆஇ",
           "กขฃคฅฆงจฉชซิีึืุูเแโ", "ກຂຄງຈສ", "ཀཁགངཅཆི", "ႠႡႢაბგდ", "가나다라마바사아한국어", "각ᄂ", "あいうえおがぎぐゕー", "アイウエオガギグヴー",
           "的一是不了人我在有他這们中文", "豈更車", "ሀሁሂሃሄ", "កខគឃា", "မြန်မာ", "ᏣᎳᎩ", "٠١٢٣४५६௧௨", "ⅠⅡⅢⅳ①②½²³¼", "ａｂｃＡＢＣｶﾞｱｲ１２"]
SIGNS = ["!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "«»„“”‘’…–—‐·¿¡§¶†‡•", "€£¥¢₹₽", "∀∂∃∅∇∈∑√∞∫≈≠≤≥±×÷", "←↑→↓⇒",
         "。，、「」！？：；・", "।۔،؛؟",
         "©®™°№℃㍿㎏", "ـ‿⁀﹏＿"]
MARKS = "\u0300\u0301\u0302\u0303\u0308\u030a\u0327\u0328\u0323\u20dd\u20e3\u064b\u064e\u05b8\u093c\u3099"
BLANKS = [" "] * 12 + ["  ", "   ", "\t", "\n", "\r\n", "\n\n", " \n ", "\u00a0", "\u2003", "\u3000", "\u2028",
          "\u0085", "\x0b", "\x0c",
                       "\u1680", "\u202f", "\u205f"]
HIDDEN = ["\u200b", "\u200c", "\u200d", "\u200e", "\u2060", "\ufeff", "\u00ad", "\ufffd", "\x01", "\x07", "\x1b",
          "\x7f", "\x00", "\ue000",
          "\ufe0f", "\x8f", "\x9f", "\u180e", "\ufdfa"]
EMOJI = ["😀", "👍", "👍🏽", "🚀", "❤️", "👨‍👩‍👧‍👦", "🇩🇪", "🇺🇸🇯🇵", "1️⃣", "☺", "✨", "🏴‍☠️", "🤖"]
TOKENS = ["<mask>", "<tail>", "wob", "ÅB", "fox jumps", "<|end|>", "<|end|>ing", "mond", "Mond", "<s>", "</s>",
          "<unk>", "<pad>",
          "[MASK]", "[UNK]", "<|endoftext|>", "<|startoftext|>", "<0x41>", "▁", "##a", "[CLS", "<|en", " <mask>  ",
          " wob ", "xwob",
          "  <tail>\t", "</w>", "Ġ", "a\u030aB", "A\u030aB", "Å", "a.", "a.a.", "MOND", "fox  jumps", "fox jumps "]
WORDS = ("the quick brown fox lower lowest newest don't they'll I'M WE'VE 2024 3.14 1,000 café naïve Straße "
         "STRASSE Mond съешь булок हिन्दी में 苹果 東京タワー 한국어 สวัสดี שלום مرحبا "
         "https://example.org/a?b=1 x_y-z aaaa '' ''s --- ...").split()


def safe(c):
    """Tables of different age agree on characters that are old, but for marks that became letters."""
    late = "\u0f82\u0f83" + "".join(map(chr, range(0x363, 0x370)))
    return unicodedata.ucd_3_2_0.category(c) == unicodedata.category(c) and c not in late


def anything(r):
    while True:
        c = chr(r.choice([r.randrange(0x20, 0x3000), r.randrange(0x3000, 0xD800), r.randrange(0xF900, 0x10000),
                          r.randrange(0x1D000, 0x1D800)]))
        if unicodedata.category(c) != "Cn" and safe(c):
            return c


def text(r):
    out = ""
    script = r.choice(SCRIPTS)
    for _ in range(r.choice([0, 1, 2, 4, 8, 16, 30])):
        kind = r.randrange(100)
        if kind < 25:
            out += "".join(r.choice(script) for _ in range(r.randrange(1, 8)))
        elif kind < 45:
            out += r.choice(WORDS)
        elif kind < 68:
            out += r.choice(BLANKS)
        elif kind < 76:
            out += r.choice(r.choice(SIGNS)) * r.choice([1, 1, 2, 3])
        elif kind < 81:
            out += r.choice(MARKS)
        elif kind < 84:
            out += r.choice(HIDDEN)
        elif kind < 87:
            out += r.choice(EMOJI)
        elif kind < 93:
            out += r.choice(TOKENS)
        elif kind < 96:
            out += anything(r)
        else:
            script = r.choice(SCRIPTS)
    return out


def texts(n, seed=1):
    r = random.Random(seed)
    return ["", " ", "\n", "a"] + [text(r) for _ in range(n - 4)]

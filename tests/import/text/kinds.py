"""kinds.py - tokenizer.json files of the kinds that language models have, small, made here: what tests read. Beside
the kinds stand probes: one step each before a model that has a token for every byte at the beginning of a word and one
for it inside, so that its tokens say where words begin."""
import base64, collections, struct

CORPUS = """the quick brown fox jumps over the lazy dog , and it's what we've seen : lower lowest newest widest
tokens are numbers 12 345 6789 2024 ; don't they'll I'm you'd HELLO World café naïve Ångström résumé Straße
der Mond ist aufgegangen , die goldnen Sternlein prangen съешь же ещё этих мягких французских булок
मैं हिन्दी में लिखता हूँ 我喜欢吃苹果 東京タワーに行きました 한국어 문장입니다 สวัสดีครับ שלום עולם مرحبا بالعالم
x = y + 1 ; if ( a != b ) { return c [ 0 ] ; } https://example.org/path?q=1&r=2 a_b-c.d 😀 👍 🚀"""

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")
QWEN = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"


def bytes_chars():
    plain = [b for b in range(256) if 33 <= b <= 126 or 161 <= b <= 172 or b >= 174]
    rest = [b for b in range(256) if b not in plain]
    return {**{b: chr(b) for b in plain}, **{b: chr(256 + i) for i, b in enumerate(rest)}}


BYTES = bytes_chars()


def spelled(word):
    return "".join(BYTES[b] for b in word.encode())


def learn(words, n):
    """The n pairs that byte-pair encoding merges first in lists of symbols."""
    merges = []
    for _ in range(n):
        pairs = collections.Counter(p for w in words for p in zip(w, w[1:]))
        if not pairs:
            break
        pair = max(sorted(pairs), key=pairs.get)
        merges.append(pair)
        for w in words:
            i = 0
            while i + 1 < len(w):
                if (w[i], w[i + 1]) == pair:
                    w[i:i + 2] = [w[i] + w[i + 1]]
                i += 1
    return merges


def bpe(words, alphabet, n, first=(), pairs=False, **more):
    merges = learn(words, n)
    tokens = dict.fromkeys([*first, *alphabet, *(a + b for a, b in merges)])
    return {"type": "BPE", "vocab": {t: i for i, t in enumerate(tokens)}, **more,
            "merges": [list(m) if pairs else " ".join(m) for m in merges]}


def byte_bpe(n=220, **more):
    words = [list(spelled((" " if i else "") + w)) for i, w in enumerate(CORPUS.split())]
    return bpe(words, BYTES.values(), n, **more)


def unigram(first, **more):
    pieces = collections.Counter()
    for w in CORPUS.split():
        w = "▁" + w
        pieces.update(w[i:k] for i in range(len(w)) for k in range(i + 1, min(len(w), i + 7) + 1))
    kept = sorted(pieces.items(), key=lambda p: (-p[1] * len(p[0]), p[0]))[:420]
    return {"type": "Unigram", "unk_id": first.index("<unk>"), **more,
            "vocab": [[t, 0.0] for t in first] + [[t, -2.0 - i * 0.0173] for i, (t, _) in enumerate(kept)]}


def charsmap(table):
    """SentencePiece's table of characters: a double array over UTF-8, then the texts."""
    texts, unit, used = b"", {}, {0}
    tree = {}
    for key, to in table.items():
        node = tree
        for b in key.encode():
            node = node.setdefault(b, {})
        node[None] = len(texts)
        texts += to.encode() + b"\0"

    def place(node, at):
        base = next(b for b in range(1, 1 << 20) if not any(b ^ (k or 0) in used for k in node) and b not in used
                    and (at ^ b) < 1 << 21)
        used.update(base ^ (k or 0) for k in node)
        unit[at] = unit.get(at, 0) | (at ^ base) << 10 | (256 if None in node else 0)
        for k, below in node.items():
            unit[base ^ (k or 0)] = 1 << 31 | below if k is None else k
            if k is not None:
                place(below, base ^ k)

    place(tree, 0)
    size = (max(unit) | 255) + 1
    trie = struct.pack(f"<{size}I", *(unit.get(i, 0) for i in range(size)))
    return base64.b64encode(struct.pack("<I", len(trie)) + trie + texts).decode()


TABLE = {"①": "1", "ﬁ": "fi", "Ａ": "A", "Ｂ": "B", "\u00a0": " ", "\t": " ", "\n": " ", "\u200b": "", "…": "...",
         "㍿": "株式会社", "ｶﾞ": "ガ", "ｶ": "カ", "e\u0301": "é", "a\u0308": "ä", "が": "が", "\u3000": " ",
         "²": "2", "½": "1⁄2", "ﷺ": "صلى الله عليه وسلم", "\u0007": "", "\ufeff": "", "\ufffd": " "}


def added(contents, start, vocab):
    """Tokens with every flag; those of the vocabulary keep their numbers."""
    flags = {"<mask>": {"lstrip": True, "special": True}, "<tail>": {"rstrip": True}, "wob": {"single_word": True},
             "ÅB": {"normalized": True}, "fox jumps": {"normalized": True, "lstrip": True, "rstrip": True},
             "<|end|>": {"special": True}, "<|end|>ing": {}, "mond": {"normalized": True, "single_word": True}}
    out = []
    for c in [*contents, *flags]:
        f = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": c in contents}
        out.append({"id": vocab.get(c, start), "content": c, **f, **flags.get(c, {})})
        start += c not in vocab
    return out


def file(model, special, normalizer=None, pre=None, post=None, decoder=None):
    vocab = model["vocab"]
    vocab = vocab if isinstance(vocab, dict) else {t: i for i, (t, _) in enumerate(vocab)}
    return {"version": "1.0", "truncation": None, "padding": None,
            "added_tokens": added(special, len(vocab), vocab), "normalizer": normalizer, "pre_tokenizer": pre,
            "post_processor": post, "decoder": decoder, "model": model}


def of(kind, **more):
    return {"type": kind, **more}


def sequence(key, *all):
    return {"type": "Sequence", key: list(all)}


def template(before, after, ids):
    return of("TemplateProcessing", single=[*({"SpecialToken": {"id": t, "type_id": 0}} for t in before),
                                            {"Sequence": {"id": "A", "type_id": 0}},
                                            *({"SpecialToken": {"id": t, "type_id": 0}} for t in after)],
              pair=[{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
              special_tokens={t: {"id": t, "ids": [i], "tokens": [t]} for t, i in ids.items()})


def byte_level(**more):
    return of("ByteLevel", **{"add_prefix_space": False, "trim_offsets": True, "use_regex": True, **more})


def split(pattern, behavior="Isolated", invert=False):
    return of("Split", pattern=pattern if isinstance(pattern, dict) else {"Regex": pattern}, behavior=behavior,
              invert=invert)


def metaspace(**more):
    return of("Metaspace", **{"replacement": "▁", "prepend_scheme": "always", "split": True, **more})


def replace(content, **pattern):
    return of("Replace", pattern=pattern, content=content)


def llama2(**more):
    words = [list("▁" + w) for w in CORPUS.split()]
    alphabet = sorted({c for w in words for c in w} - set("木東京ñ😀x;"))
    first = ["<unk>", "<s>", "</s>", *(f"<0x{b:02X}>" for b in range(256))]
    words = [[c for c in w if c in alphabet] for w in words]
    model = bpe(words, alphabet, 160, first, dropout=None, unk_token="<unk>", continuing_subword_prefix=None,
                end_of_word_suffix=None, fuse_unk=True, byte_fallback=True)
    return file(model, ["<unk>", "<s>", "</s>"], post=template(["<s>"], [], {"<s>": 1}),
                decoder=sequence("decoders", replace(" ", String="▁"), of("ByteFallback"), of("Fuse"),
                                 of("Strip", content=" ", start=1, stop=0)), **more)


def kinds():
    gpt2 = byte_bpe()
    out = {"gpt2": file(gpt2, ["<|endoftext|>"], pre=byte_level(), post=byte_level(), decoder=byte_level())}
    out["llama2"] = llama2(normalizer=sequence("normalizers", of("Prepend", prepend="▁"), replace("▁", String=" ")))
    out["llama2-first"] = llama2(pre=metaspace(prepend_scheme="first", split=False))
    out["llama3"] = file(byte_bpe(pairs=True, ignore_merges=True), ["<|begin_of_text|>"],
                         pre=sequence("pretokenizers", split(LLAMA3), byte_level(use_regex=False)),
                         post=sequence("processors", byte_level(), template(["<|begin_of_text|>"], [],
                                                                            {"<|begin_of_text|>": len(gpt2["vocab"])})),
                         decoder=byte_level())
    out["qwen"] = file(byte_bpe(180), ["<|endoftext|>", "<|im_start|>"], normalizer=of("NFC"), post=byte_level(),
                       pre=sequence("pretokenizers", split(QWEN), byte_level(use_regex=False)), decoder=byte_level())
    precompiled = of("Precompiled", precompiled_charsmap=charsmap(TABLE))
    out["t5"] = file(unigram(["<pad>", "</s>", "<unk>"]), ["<pad>", "</s>", "<unk>"], normalizer=precompiled,
                     pre=sequence("pretokenizers", of("WhitespaceSplit"), metaspace()), decoder=metaspace(),
                     post=template([], ["</s>"], {"</s>": 1}))
    out["xlm-r"] = file(unigram(["<s>", "<pad>", "</s>", "<unk>"]), ["<s>", "<pad>", "</s>", "<unk>"],
                        normalizer=sequence("normalizers", precompiled, replace(" ", Regex=" {2,}")),
                        pre=of("Metaspace", replacement="▁", add_prefix_space=True), decoder=metaspace(),
                        post=template(["<s>"], ["</s>"], {"<s>": 0, "</s>": 2}))
    words = [list(spelled(w.lower())) for w in CORPUS.split()]
    for w in words:
        w[-1] += "</w>"
    clip = bpe(words, [*BYTES.values(), *(b + "</w>" for b in BYTES.values())], 200, dropout=None,
               unk_token="<|endoftext|>", continuing_subword_prefix="", end_of_word_suffix="</w>", fuse_unk=False)
    ends = {"<|startoftext|>": len(clip["vocab"]), "<|endoftext|>": len(clip["vocab"]) + 1}
    out["clip"] = file({**clip, "vocab": {**clip["vocab"], **ends}}, list(ends),
                       normalizer=sequence("normalizers", of("NFC"), replace(" ", Regex=r"\s+"), of("Lowercase")),
                       pre=sequence("pretokenizers", split(CLIP, "Removed", True), byte_level()),
                       post=of("RobertaProcessing", sep=["<|endoftext|>", ends["<|endoftext|>"]], trim_offsets=False,
                               cls=["<|startoftext|>", ends["<|startoftext|>"]], add_prefix_space=False),
                       decoder=sequence("decoders", byte_level(), of("BPEDecoder", suffix="</w>")))
    pieces = collections.Counter(p for w in CORPUS.lower().split() for k in range(len(w)) for p in
                                 [w[:k + 1], *("##" + w[k:j] for j in range(k + 1, min(len(w), k + 4) + 1) if k)])
    first = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocab = {t: i for i, t in enumerate([*first, *sorted(p for p in pieces if len(p) < 6 or pieces[p] > 1)])}
    out["bert"] = file(of("WordPiece", vocab=vocab, unk_token="[UNK]", continuing_subword_prefix="##",
                          max_input_chars_per_word=20), first,
                       normalizer=of("BertNormalizer", clean_text=True, handle_chinese_chars=True, strip_accents=None,
                                     lowercase=True),
                       pre=of("BertPreTokenizer"), post=of("BertProcessing", sep=["[SEP]", 3], cls=["[CLS]", 2]),
                       decoder=of("WordPiece", prefix="##", cleanup=True))
    return out


def probes():
    """One step each, where words begin said by the tokens."""
    model = of("WordPiece", vocab={t: i for i, t in enumerate(["[UNK]", *(p + c for p in ("", "##")
                                                                         for c in BYTES.values())])},
               unk_token="[UNK]", continuing_subword_prefix="##", max_input_chars_per_word=100000)
    end = byte_level(use_regex=False)
    out = {}

    def probe(name, *pre, normalizer=None, decoder=None):
        out[name] = file(model, ["[UNK]"], normalizer=normalizer, decoder=decoder,
                         pre=sequence("pretokenizers", *pre, end))

    behaviors = ["Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext"]
    for b in behaviors:
        probe("punctuation-" + b, of("Punctuation", behavior=b))
        for invert in (False, True):
            probe(f"split-{b}-{invert}", split(r"\w+|\s", b, invert))
            probe(f"split-text-{b}-{invert}", split({"String": "a."}, b, invert))
    for name in ("Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts"):
        probe(name, of(name))
    probe("digits", of("Digits", individual_digits=False)), probe("digit", of("Digits", individual_digits=True))
    probe("delimiter", of("CharDelimiterSplit", delimiter="-")), probe("fixed", of("FixedLength", length=3))
    for scheme in ("always", "first", "never"):
        probe("metaspace-" + scheme, of("Whitespace") if scheme == "first" else of("WhitespaceSplit"),
              metaspace(prepend_scheme=scheme), decoder=metaspace(prepend_scheme=scheme))
        probe("metaspace-whole-" + scheme, metaspace(prepend_scheme=scheme, split=False))
    probe("bytelevel", byte_level(add_prefix_space=True))
    for k, regex in enumerate([r"\b", r"(?<=\w)(?=\W)", r"[^(\s|[.,!?…。，、।۔،])]+", r"\d{2}|\h{3}|\u00e9", r"^.|.$",
                               r"(?i)straÉ|k", r"[[:alpha:]&]+|[[:punct:]]",
                               r"[[:alnum:][:blank:]]+", r"[[:lower:]]+|[[:upper:]]|[[:digit:]]+", r"\W+",
                               r"(?m:a.b)", r"x*", r"\p{Han}|\p{^L}", r"\S\s*",
                               r"[\w'-]+?(?=\s|\z)", r"\B.", r"[]a]+", r"\p{Lu}?[\p{Ll}\p{M}]++", "a|b|", r"(.)\1"]):
        probe(f"regex-{k}", split(regex))
    for name in ("NFC", "NFD", "NFKC", "NFKD", "Nmt", "Lowercase", "StripAccents"):
        probe(name, normalizer=of(name))
    probe("decomposed", normalizer=sequence("normalizers", of("NFKD"), of("StripAccents"), of("NFC")))
    for left in (False, True):
        for right in (False, True):
            probe(f"strip-{left}-{right}", normalizer=of("Strip", strip_left=left, strip_right=right))
    probe("bert-cased", normalizer=of("BertNormalizer", clean_text=False, handle_chinese_chars=True,
    strip_accents=True,
                                      lowercase=False))
    probe("replace", normalizer=sequence("normalizers", replace("-", Regex=r"\s*[,;]"), replace("", String="o"),
                                         replace("<>", String="aa"), of("Prepend", prepend="> ")))
    out["bytes-normal"] = file(byte_bpe(100), [], normalizer=sequence("normalizers", of("NFC"), of("ByteLevel")),
                               decoder=byte_level())
    ctc = {t: i for i, t in enumerate(["<pad>", "|", "<unk>", *"abcdefghijklmnopqrstuvwxyz'"])}
    out["ctc"] = file(of("WordLevel", vocab=ctc, unk_token="<unk>"), ["<pad>"],
                      normalizer=sequence("normalizers", of("Lowercase"), replace("|", String=" ")),
                      pre=split(".", "Isolated"),
                      decoder=of("CTC", pad_token="<pad>", word_delimiter_token="|", cleanup=True))
    words = [[*w[:1], *("##" + c for c in w[1:])] for w in CORPUS.split()]
    alphabet = sorted({c for w in words for c in w})
    merges = [(a, b) for a, b in zip("tlnw", ["##h", "##o", "##e", "##i"])]
    tokens = dict.fromkeys(["[UNK]", *alphabet, *(a + b[2:] for a, b in merges)])
    out["prefix"] = file(of("BPE", vocab={t: i for i, t in enumerate(tokens)}, merges=[" ".join(m) for m in merges],
                            unk_token="[UNK]", continuing_subword_prefix="##", fuse_unk=False), [],
                         pre=of("Whitespace"), decoder=of("WordPiece", prefix="##", cleanup=False))
    return out

/* scripts.c - UnicodeScripts: a word ends where the script of the text changes, as SentencePiece trains. The scripts
 * are those of that program's table; Japanese's three count as one; what is in none, and spaces, belong to any. */
#include "import/text/tokenizer.h"

#include <string.h>

static const char names[] =
    "Common Inherited Latin Cyrillic Greek Arabic Hebrew Devanagari Hangul Thai Adlam Ahom AnatolianHieroglyphs "
    "Armenian "
    "Avestan Balinese Bamum BassaVah Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid CanadianAboriginal "
    "Carian CaucasianAlbanian Chakma Cham Cherokee Coptic Cuneiform Cypriot Deseret Duployan EgyptianHieroglyphs "
    "Elbasan "
    "Ethiopic Georgian Glagolitic Gothic Grantha Gujarati Gurmukhi Hanunoo Hatran ImperialAramaic InscriptionalPahlavi "
    "InscriptionalParthian Javanese Kaithi Kannada KayahLi Kharoshthi Khmer Khojki Khudawadi Lao Lepcha Limbu LinearA "
    "LinearB Lisu Lycian Lydian Mahajani Malayalam Mandaic Manichaean Marchen MeeteiMayek MendeKikakui MeroiticCursive "
    "MeroiticHieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean NewTaiLue Newa Nko Ogham OlChiki "
    "OldHungarian "
    "OldItalic OldNorthArabian OldPermic OldPersian OldSouthArabian OldTurkic Oriya Osage Osmanya PahawhHmong "
    "Palmyrene "
    "PauCinHau PhagsPa Phoenician PsalterPahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting "
    "Sinhala SoraSompeng Sundanese SylotiNagri Syriac Tagalog Tagbanwa TaiLe TaiTham TaiViet Takri Tamil Tangut Telugu "
    "Thaana Tibetan Tifinagh Tirhuta Ugaritic Vai WarangCiti Yi";
enum { KANA_LENGTH_MARK = 0x30FC };

/* One expression with a group for each script. */
bool scripts_read(tokenizer *t, text_step *s, const json *v, err *e)
{
    (void)t, (void)v;
    ENDED_BY(text_free) text all = {0};
    text_add(&all, "(\\x{%x}|\\p{sc:Han}|\\p{sc:Hiragana}|\\p{sc:Katakana})", (unsigned)KANA_LENGTH_MARK);
    for (const char *at = names; *at; at += strcspn(at, " "), at += *at == ' ')
        text_add(&all, "|(\\p{sc:%.*s})", (int)strcspn(at, " "), at);
    s->pattern = pattern_regex(text_str(&all), e);
    return s->pattern;
}

void scripts_cut(const text_step *s, piece in, words *out)
{
    const size_t at = out->text.length;
    size_t begin = in.n; /* what lies before the first script is dropped, as there */
    int now = 0;         /* the script so far */
    text_bytes(&out->text, in.s, in.n);
    finder f = finder_make(s->pattern, in.s, in.n);
    while (finder_next(&f)) {
        if (in.s[f.begin] == ' ')
            continue;
        if (f.group != now) {
            words_cut(out, at + begin, now ? f.begin - begin : 0);
            begin = f.begin, now = f.group;
        }
    }
    finder_free(&f);
    words_cut(out, at + begin, in.n - begin);
}

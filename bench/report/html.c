/* html.c - text is escaped character by character; what is invalid UTF-8, hidden, or turns the direction of reading
 * is shown as its code. */
#include "bench/report/html.h"

#include <stdio.h>
#include <string.h>

static const char *entity(uint32_t code)
{
    switch (code) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

/* One character as it is shown; returns the columns it takes. */
static int shown(char out[24], const char *s, int length, uint32_t code)
{
    if (!length)
        return snprintf(out, 24, "\\x%02x", (unsigned)(unsigned char)*s);
    if (!utf8_hidden(code))
        return memcpy(out, s, (size_t)length), out[length] = 0, 1;
    return snprintf(out, 24, code < 0x100 ? "\\x%02x" : "\\u{%x}", (unsigned)code);
}

typedef struct manner {
    size_t columns;
    bool html;
    const char *kept;   /* control characters that stay */
    const char *breaks; /* characters after which a line may break */
} manner;

static void escape(text *t, const char *s, manner m)
{
    size_t n = s ? strlen(s) : 0, used = 0, before_last = t->length;
    for (size_t i = 0; i < n;) {
        uint32_t code = 0;
        char out[24];
        int length = (int)utf8_next(s + i, &code);
        const char *named = m.html && length == 1 ? entity(code) : NULL;
        bool keep = length == 1 && strchr(m.kept, s[i]);
        int wide = 1;
        if (keep || named)
            snprintf(out, sizeof out, "%.*s", named ? 6 : 1, named ? named : s + i);
        else
            wide = shown(out, s + i, length, code);
        if (used + (size_t)wide > m.columns) {
            t->length = before_last;
            text_add(t, "…");
            return;
        }
        /* what has to go if the next character does not fit any more */
        if (used + (size_t)wide < m.columns)
            before_last = t->length + strlen(out);
        text_bytes(t, out, strlen(out));
        if (length == 1 && strchr(m.breaks, s[i]))
            text_add(t, "<wbr>");
        used += (size_t)wide;
        i += length ? (size_t)length : 1;
    }
}

void html_text(text *t, const char *s)
{
    escape(t, s, (manner){SIZE_MAX / 2, true, "", ""});
}

void html_name(text *t, const char *s)
{
    escape(t, s, (manner){120, true, "", "./_:"});
}

void html_clip(text *t, const char *s, int columns)
{
    escape(t, s, (manner){columns < 1 ? 1 : (size_t)columns, true, "", ""});
}

const char *html_skip(const char *s, int characters)
{
    uint32_t code;
    for (; characters > 0 && *s; characters--) {
        const size_t length = utf8_next(s, &code);
        s += length ? length : 1;
    }
    return s;
}

void html_code(text *t, const char *s)
{
    escape(t, s, (manner){SIZE_MAX / 2, true, "\n\t", ""});
}

void html_plain(text *t, const char *s)
{
    escape(t, s, (manner){SIZE_MAX / 2, false, "", ""});
}

static void embed_code(text *t, uint32_t c)
{
    if (c > 0xffff)
        text_add(t, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)), (unsigned)(0xdc00 | (c & 0x3ff)));
    else
        text_add(t, "\\u%04x", (unsigned)c);
}

void html_embed(text *t, const char *json)
{
    bool in_string = false;
    for (size_t i = 0, n = strlen(json); i < n;) {
        uint32_t code = 0;
        int length = (int)utf8_next(json + i, &code);
        code = length ? code : 0xfffd;
        if (!in_string) {
            if (code > ' ' && code < 0x7f)
                text_bytes(t, json + i, 1);
            in_string = code == '"';
        } else if (code == '\\' && i + 1 < n) {
            text_bytes(t, json + i, 2); /* the parser has checked what follows a backslash */
            length = 2;
        } else {
            if (!length || code == '<' || utf8_hidden(code))
                embed_code(t, code);
            else
                text_bytes(t, json + i, (size_t)length);
            in_string = code != '"';
        }
        i += length ? (size_t)length : 1;
    }
}

# source.awk - C without its comments, as FILE:LINE:CODE for the architecture tests to match against. String and
# character literals are kept; with -v strings=no their contents go too.
FNR == 1 { inside = 0 }
{
    line = $0; code = ""; quote = ""
    if (inside ? !index(line, "*/") : line !~ /["'\/]/) { # most lines: all comment, or without marks of any
        if (!inside) code = line
        line = ""
    }
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1); two = substr(line, i, 2)
        if (inside) {
            if (two == "*/") { inside = 0; i++ }
        } else if (quote != "") {
            if (c == "\\") { if (strings != "no") code = code two; i++; continue }
            if (c == quote) quote = ""
            if (quote == "" || strings != "no") code = code c
        } else if (two == "/*") { inside = 1; i++ }
        else if (two == "//") break
        else {
            if (c == "\"" || c == "'") quote = c
            code = code c
        }
    }
    if (code ~ /[^ \t]/) print FILENAME ":" FNR ":" code
}

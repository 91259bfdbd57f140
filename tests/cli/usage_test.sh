#!/bin/sh
# Wrong command lines: each has its exit code, one message that names the value, and the remedy.
. "$SOURCE/tests/cli/expect.sh"

# verbs and nouns
expect 2 'there is no verb "bnech"' bnech
expect 2 'did you mean bench?' bnech
expect 2 'did you mean help?' hlep
expect 2 'tessera alone lists the verbs' frobnicate
expect 2 'there is no verb ""' ''
expect 2 'there is no verb "--threads"' --threads 2
expect 2 'run: MODEL is missing' run
expect 2 'run: MODEL is missing' run --seed 1
expect 2 'do not know what to do with "two"' run one two
expect 2 'do not know what to do with "--seed"' run one -- --seed
expect 2 'compare: AFTER is missing' compare before.json
expect 2 'schema: say what to do' schema
expect 2 'schema does not know "innit"' schema innit
expect 2 'did you mean init?' schema innit
expect 2 'schema lint: MODEL is missing' schema lint a.json
expect 2 'schema lint: --out means nothing here' schema lint a.json bert-base --out b.txt
expect 2 'schema list: --out means nothing here' schema list -o b.txt
expect 2 'completion does not know "tcsh"' completion tcsh
expect 2 'no help on "bnch"' help bnch
expect 2 'did you mean tessera help bench?' help bnch

# options
expect 2 'run has no option --treads' run m --treads 2
expect 2 'did you mean --threads?' run m --treads 2
expect 2 'did you mean --seed?' run m --sede=1
expect 2 'tessera help run lists its options' run m --workspace 2
expect 2 'run has no option --thread' run m --thread 2
expect 2 'run has no option -Z' run m -Z
expect 2 'did you mean --dim?' run m -dim seq=1
expect 2 '--seed needs a value: N' run m --seed
expect 2 '-: stands for standard output, which takes no folder' emit bert-tiny -o -
expect 2 'name a folder; one that is called - is ./-' import bert-tiny -o -
expect 2 'stands for standard output, which takes no folder' run bert-tiny --seed 1 --dim batch=1 --dim seq=1 -o -
expect 2 'stands for standard output, which takes no folder' train bert-tiny --data none.csv -o -
expect 0 'double twice(double x)' emit --fn 'twice(x) = x + x' -o -
[ ! -e - ] || wrong "-o - makes a file or folder of that name"
expect 2 '--out needs a value: FOLDER' run m --out --quiet
expect 2 'write --out=--quiet' run m --out --quiet
expect 2 '--quiet takes no value, "yes" was given' run m --quiet=yes
expect 2 '--seed "1x": must be a whole number from 0 to' run m --seed 1x
expect 2 '--seed "-1": must be a whole number from 0 to' run m --seed -1
expect 2 'instruction set "avx2": nothing of the plan for null runs on a processor' explain products --target null --machine gpu:h100 --isa avx2
expect 2 '--threads "0": must be a whole number from 1 to 1024' run m --threads 0
expect 2 '--threads "99999999999999999999"' run m --threads 99999999999999999999
expect 2 '--threads "many"' run m --threads=many
expect 2 '--dim "seq": must be NAME=N' run m --dim seq
expect 2 '--in "x.npy": must be NAME=FILE.npy' run m --in x.npy
expect 2 '--mem-limit "lots": must be a size in bytes' run bert-tiny --seed 1 --mem-limit lots
expect 2 'mem-limit "cuda:0=4G": the plan is for no such device' run bert-tiny --seed 1 --mem-limit cuda:0=4G
expect 2 'hint: it is for c' run bert-tiny --seed 1 --mem-limit 1G,moon=4G
expect 2 '--color "blue": must be one of auto|always|never' run m --color blue
expect 2 '--min-time "0": must be a time' bench m --min-time 0
expect 2 '--min-time "2 s": must be a time' bench m '--min-time=2 s'
expect 2 '--launches "0"' bench m --launches 0
expect 2 '--fail-on "slow"' bench m --fail-on slow
expect 2 'did you mean slower?' bench m --fail-on slowr
expect 2 '--threshold "1": must be a percentage' compare a b --threshold 1
expect 2 '--out ""' run m --out ''
expect 2 'emit: --out is missing' emit m
expect 2 'emit --fn: --schema says nothing of a scalar function' emit --fn 'sq(x) = x*x' -s panels -o -
expect 2 'emit --fn: --isa says nothing of a scalar function' emit --fn 'sq(x) = x*x' --isa plain -o -
expect 2 'emit --fn: --dim says nothing of a scalar function' emit --fn 'sq(x) = x*x' --dim seq=3 -o -
expect 2 'it knows size, ls, verify, prune, clear, path, warm; tessera help cache' cache show

# names cannot forge messages
expect 2 'there is no verb "\x1b[2Jx"' "$(printf '\033[2Jx')"
expect 2 'run has no option --a\x0aerror' run m "$(printf -- '--a\nerror')"

# what is right
expect 0 'tessera 0.' version
expect 0 'tessera 0.' --version
expect 0 'tessera 0.' version -q --color never
expect 0 '"version":' version --json
expect 0 'tessera run' run --help
expect 0 'tessera run' run m --treads -h
expect 0 'tessera run' help run
expect 0 'UNDECIDED' bench --help
expect 0 'More options' bench -h
expect 0 'More options: tessera bench --help explains them' bench -h
expect 0 'tessera version --help says more.' version -h
expect 0 'UNDECIDED' bench -h --help
expect 0 'UNDECIDED' help bench
expect 0 "Toolchain" help exit
expect 0 "Toolchain" help exit-codes
expect 0 "exit code 3" help 3
expect 0 "Files are never trusted" help 3
expect 0 "Rename it: 1 to 512 bytes of UTF-8." help M014
expect 0 "Rename it" help m014
expect 0 "safetensors" help codes
expect 2 'no help on "M999"' help M999
expect 2 'no help on "11"' help 11

# every code in front of a message has a page, and every page a message
said=$(cd "$SOURCE" && find graph import schedule autodiff backends bench cli -name '*.c' -print0 |
    xargs -0 awk -f tests/source.awk | grep -oE '"[A-Z][0-9]{3}[ "]' | tr -d '" ' | sort -u)
told=$("$TESSERA" help codes | sed 1d | awk '{ print $1 }' | sort -u)
checked=$((checked + 1))
[ -n "$said" ] && [ "$said" = "$told" ] || wrong "codes in the sources and in help codes differ" "$said" "$told"
# so has every exit code of the public header
for code in 130 143 $(sed -n 's/^ *TS_[A-Z_]* = \([0-9]*\),.*/\1/p' "$SOURCE/include/tessera.h"); do
    expect 0 "exit code $code" help "$code"
done
finish

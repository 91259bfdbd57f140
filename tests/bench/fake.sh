#!/bin/sh
# fake.sh - a contestant that speaks bench/protocol.h and behaves as its schema's name says. Times are told, not taken, so
# that tests are quick and certain. FAKE_DATA is a folder with right.npy, and NAME.npy of who gives something else.
name=none count=0

tell_time() { # passes, ns of one pass; a little noise that differs from call to call and between names
    count=$((count + 1))
    noise=$(((count * 7919 + ${#name} * 104729) % 41 - 20))
    echo "TIME $(($1 * ($2 + $2 * noise / 10000)))"
}

while IFS= read -r line; do
    set -- $line
    case $1 in
    plan | open)
        case $line in
        *'"reference":true'*) name=reference ;;
        *) name=$(printf '%s\n' "$line" | sed -n 's/.*"schema":"\([^"]*\)".*/\1/p') ;;
        esac
        case $name in
        refuses) echo 'FAILED {"code":3,"planned":true,"text":"rule 2: no axis \"q\""}' && continue ;;
        esac
        [ "$1" = open ] || { echo PLANNED && continue; }
        [ ! -e "$FAKE_DATA/refused" ] || exit 8 # nobody is opened where one is refused
        case $name in
        unbuilt) echo 'FAILED {"code":5,"text":"cc: not found"}' && continue ;;
        mute) echo 'something is broken here' >&2 && exit 9 ;;
        esac
        echo 'PROGRESS {"what":"building","done":1,"total":2}'
        printf 'READY {"version":"0","hash":"abc","inputs":[{"name":"x","dtype":"f32","shape":[2],"path":"x.npy"}],'
        [ ! -e "$FAKE_DATA/rounds" ] || printf '"rounds":true,'
        printf '"outputs":[{"name":"y","dtype":"f32","shape":[4]}],"read_s":0,"bind_s":0,"plan_s":0,"build_s":0,'
        printf '"plan":{"isa":"plain","threads":1,"memory":{"arena_bytes":64},"kernels":['
        printf '{"name":"k0","op":"matmul","rule":"r","flops":1e6,"bytes":1e3},{"name":"k1","op":"exp","rule":"","flops":0,"bytes":1e9}]}}\n'
        ;;
    check) [ ! -e "$FAKE_DATA/absent" ] && echo PLANNED || echo 'ABSENT {"text":"the package other is not installed"}' ;;
    save)
        [ -e "$FAKE_DATA/$name.npy" ] && cp "$FAKE_DATA/$name.npy" "$2/0.npy" || cp "$FAKE_DATA/right.npy" "$2/0.npy"
        echo SAVED
        ;;
    run)
        case $name in
        crash) kill -SEGV $$ ;;
        stops) [ -e "$FAKE_DATA/stop" ] && [ -e "$FAKE_DATA/profiled" ] && rm "$FAKE_DATA/profiled" && kill -TERM $PPID && sleep 5 ;;
        late_crash) [ "$count" -gt 6 ] && echo 'died of age' >&2 && kill -ABRT $$ ;;
        hang) sleep 1000 ;;
        babble) echo 'what a day' && continue ;;
        esac
        case $name in
        slower) tell_time "$3" 10300000 ;;
        slow) tell_time "$3" 20000000 ;;
        robbed) # three samples of five lose the processor, and take three times as long
            [ $((count % 5)) -lt 3 ] && tell_time "$3" 30000000 | sed 's/$/ 2/' && count=$((count + 1)) && continue
            tell_time "$3" 10000000
            ;;
        lost | 'lost twice') # all of them do, and wait for it: two times of three, and four of five
            [ "$name" = lost ] && own=10000000 || own=20000000
            count=$((count + 1)) waits=$((count % 2 ? 2 * own : 4 * own))
            echo "TIME $(($3 * (own + waits))) 2 $(($3 * waits))"
            ;;
        restless*) tell_time "$3" $((10000000 + (count * 7919 + ${#name} * 31) % 13 * 500000)) ;;
        touched) tell_time "$3" 10000000 | sed 's/$/ 2 20000/' && count=$((count + 1)) ;; # they lose next to nothing
        *) tell_time "$3" 10000000 ;;
        esac
        ;;
    profile)
        [ ! -e "$FAKE_DATA/stop" ] || : >"$FAKE_DATA/profiled" # the first launch is over
        echo 'PROFILE {"seconds":[0.004,0.002]}'
        ;;
    quit) exit 0 ;;
    esac
done

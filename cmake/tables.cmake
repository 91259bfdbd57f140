# What is written from the names of sources: tables of operations, readers and the like, texts (texts.cmake), protobuf,
# the commit. Appends to `library` and `tool`.

# table(VARIABLE NAME HEADER PREFIX DECLARATION ELEMENT FILES...) writes `NAME[]`, ended by NULL, of all PREFIX_x that
# FILES define at the start of a line. In DECLARATION (without "extern") and ELEMENT "%" stands for the name. Appends
# the file to VARIABLE.
function(table variable name header prefix declaration element)
    if(NOT EXISTS ${CMAKE_SOURCE_DIR}/${header} AND NOT EXISTS ${CMAKE_SOURCE_DIR}/include/${header})
        return()
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
    string(REGEX REPLACE "%.*" "" type "${declaration}")
    string(REGEX REPLACE " *%\\[\\]" " *" array "${declaration}")
    if(element MATCHES "^&")
        set(array "${type}*")
    endif()
    foreach(source IN LISTS ARGN)
        file(STRINGS ${source} lines REGEX "^const [a-z_]+ [*const ]*${prefix}_[A-Za-z0-9_]+(\\[\\])? =")
        foreach(line IN LISTS lines)
            string(REGEX MATCH "${prefix}_[A-Za-z0-9_]+" found "${line}")
            string(REPLACE "%" ${found} one "extern ${declaration};\n")
            string(APPEND externs "${one}")
            string(REPLACE "%" ${found} one "    ${element},\n")
            string(APPEND elements "${one}")
        endforeach()
    endforeach()
    file(GENERATE OUTPUT ${gen}/${name}.c CONTENT
        "/* Written by the build. */\n#include <stddef.h>\n#include \"${header}\"\n\
${externs}extern ${array}const ${name}[];\n${array}const ${name}[] = {\n${elements}    NULL,\n};\n")
    set(${variable} ${${variable}} ${gen}/${name}.c PARENT_SCOPE)
endfunction()

set(ops ${library})
list(FILTER ops INCLUDE REGEX "/graph/ops/")
set(optimizers ${library})
list(FILTER optimizers INCLUDE REGEX "/autodiff/optimizers/")
set(readers ${library})
list(FILTER readers INCLUDE REGEX "/import/")
set(backends ${library})
list(FILTER backends INCLUDE REGEX "/backends/[^/]+/")
set(models ${library})
list(FILTER models INCLUDE REGEX "/models/")
set(verbs ${tool})
list(FILTER verbs INCLUDE REGEX "/cli/")
table(library op_tables graph/ir/op.h ops "const op %[]" % ${ops})
table(library recognisers graph/ir/recognise.h recogniser "const recogniser %" &% ${ops})
table(library optimizers autodiff/optimizer.h optimizer "const optimizer %" &% ${optimizers})
table(library readers import/reader.h reader "const reader %" &% ${readers})
table(library token_models import/text/tokenizer.h token_model "const token_model %" &% ${readers})
table(library writers import/writer.h writer "const writer %" &% ${readers})
table(library backends backends/backend.h backend "const backend %" &% ${backends})
table(library builder_tables tessera.h builders "const ts_builder %[]" % ${models})
table(library objectives models/adbench/objective.h objective "const objective %" &% ${models})
set(tasks ${tool})
list(FILTER tasks INCLUDE REGEX "/train/tasks/")
table(tool tasks train/task.h task "const task %" &% ${tasks})
list(TRANSFORM tasks REPLACE "^.*/(.*)\\.c$" "\\1")
string(REPLACE ";" "|" tasks "${tasks}")
file(GENERATE OUTPUT ${gen}/task_names.c CONTENT
    "/* Written by the build. */\n#include \"train/task.h\"\nconst char task_names[] = \"${tasks}\";\n")
list(APPEND tool ${gen}/task_names.c)
table(tool verbs cli/verb.h verb "const verb %" &% ${verbs})

include(cmake/texts.cmake)

file(GLOB_RECURSE protos CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} import/*.proto)
foreach(proto IN LISTS protos)
    string(REGEX REPLACE "\\.proto$" ".pb-c" stem ${gen}/${proto})
    add_custom_command(OUTPUT ${stem}.c ${stem}.h DEPENDS ${proto}
        COMMAND ${PROTOC_C} -I${CMAKE_SOURCE_DIR} --c_out=${gen} ${CMAKE_SOURCE_DIR}/${proto})
    list(APPEND library ${stem}.c ${stem}.h)
endforeach()

# The commit that is built, looked up at every build: results name it. Empty where the folder is no checkout of its own.
string(CONCAT look "cd $0 && [ \"$(git rev-parse --show-toplevel 2>/dev/null)\" = \"$(pwd -P)\" ] && "
    "commit=$(git describe --always --dirty --abbrev=12 --exclude '*'); "
    "printf '#include \"bench/machine/environment.h\"\\nconst char revision[] = \"%s\";\\n' \"$commit\" >$1.new; "
    "cmp -s $1.new $1 || cp $1.new $1")
add_custom_target(revision COMMENT "The commit that is built" BYPRODUCTS ${gen}/revision.c VERBATIM
    COMMAND sh -c "${look}" ${CMAKE_SOURCE_DIR} ${gen}/revision.c)
list(APPEND tool ${gen}/revision.c)

foreach(source IN LISTS library tool)
    if(source MATCHES "^${gen}/")
        set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS -w)
    endif()
endforeach()

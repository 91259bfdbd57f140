# ---- tests: path = name, folder = label (tests/*.sh: architecture). A line "ctest: ..." in the file may say
#   long (only with --all), large (not under sanitizers), serial (alone on the machine), timeout=SECONDS,
#   Og, O3 (kernels are compiled so, not with -O1, which takes a third of the time of -O3; Og takes a fifth, and what it
#   makes takes 20 times as long to run, and has OpenCL not optimise; O3, as people have it,
#   where the test is of the compiler or of fast code),
#   unkept (no program of OpenCL is kept),
#   drivers (drivers leak: PoCL and LLVM, which all under an opencl/ open; the stand-in after a fault),
#   counts (of a C test: linked with sources that count what they do), fast (takes under 0.3 s: ./dev smoke),
#   wrap=NAME,... (of a C test: calls of NAME reach its own __wrap_NAME, as the linker's --wrap says) ----
enable_testing()
file(GLOB_RECURSE helpers CONFIGURE_DEPENDS tests/*.c)
list(FILTER helpers EXCLUDE REGEX "/tests/(ontop|install|gpusim|oclapart)/") # programs of their own
set(tests ${helpers})
list(FILTER tests INCLUDE REGEX "_test\\.c$")
list(FILTER helpers EXCLUDE REGEX "_test\\.c$")
if(TESSERA_FUZZ)
    list(FILTER helpers EXCLUDE REGEX "/fuzz/replay\\.c$") # libFuzzer brings its own main
    list(FILTER tests INCLUDE REGEX "/fuzz/")
endif()
file(GLOB_RECURSE scripts CONFIGURE_DEPENDS tests/*_test.sh)
file(GLOB architecture CONFIGURE_DEPENDS tests/*.sh)
# There are many tests: they are compiled and linked in a hurry.
set(hurry $<$<CONFIG:Release>:-O1>)
include(CheckLinkerFlag)
check_linker_flag(C -fuse-ld=gold HAS_GOLD)
# What a test links to count the work that is done: the same sources once more, compiled to call
# __sanitizer_cov_trace_pc in every block of code. The test defines that.
set(counted ${library} ${tool})
list(FILTER counted INCLUDE REGEX "/(graph/(ir|affine|eval|passes|onnx|base)|import|import/onnx|schedule|cli|cli/draw)/[^/]*\\.c$")
list(FILTER counted EXCLUDE REGEX "^${gen}/")
add_library(counted OBJECT EXCLUDE_FROM_ALL ${counted})
target_compile_options(counted PRIVATE -w -O0 -fsanitize-coverage=trace-pc)
add_dependencies(counted objects) # what is generated
if(helpers AND TESSERA_SANITIZE)
    # A test of its own would be 25 MB there, and a third of a second to link: they share what they test.
    add_library(helpers SHARED ${helpers})
    list(REMOVE_ITEM parts runtime)
    set(all ${parts} tessera)
    list(REMOVE_DUPLICATES all)
    list(JOIN all "," all)
    set_target_properties(helpers PROPERTIES LINK_LIBRARY_OVERRIDE "WHOLE_ARCHIVE,${all}")
    target_link_libraries(helpers PRIVATE ${parts} PUBLIC PkgConfig::LIBS Threads::Threads m)
    target_link_options(helpers INTERFACE -Wl,--allow-shlib-undefined) # what fuzzers run is each test's own
    set(parts $<$<BOOL:${runtime_part}>:$<TARGET_FILE:runtime>> helpers)
elseif(helpers)
    add_library(helpers STATIC ${helpers})
    target_link_libraries(helpers PUBLIC ${parts})
    set(parts helpers ${parts})
endif()
if(helpers)
    target_compile_options(helpers PRIVATE ${warnings})
endif()
if(helpers AND TESSERA_FUZZ)
    target_compile_options(helpers PRIVATE -fno-sanitize=fuzzer-no-link) # mutators are not what is covered
endif()
find_program(KERNEL_COMPILER NAMES gcc cc clang REQUIRED)
foreach(level O1 Og)
    set(hasty ${CMAKE_BINARY_DIR}/tests/cc-${level})
    file(CONFIGURE OUTPUT ${hasty} CONTENT "#!/bin/sh\nexec @KERNEL_COMPILER@ \"$@\" -@level@\n" @ONLY)
    file(CHMOD ${hasty} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endforeach()
# Compilers, gcc as well as the one in PoCL, look for their linker here first. Gold takes half the time.
find_program(GOLD ld.gold)
if(GOLD)
    file(CREATE_LINK ${GOLD} ${CMAKE_BINARY_DIR}/tests/ld SYMBOLIC)
endif()
set(fast)
foreach(file IN LISTS tests scripts architecture)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/tests OUTPUT_VARIABLE name)
    string(REGEX REPLACE "(_test)?\\.(c|sh)$" "" name ${name})
    file(SIZE ${file} bytes)
    if(bytes EQUAL 0)
        message(FATAL_ERROR "${file} is empty: a shell takes that for a test that passes")
    endif()
    file(STRINGS ${file} says REGEX "ctest: " LIMIT_COUNT 1)
    if(file MATCHES "\\.c$")
        string(REPLACE "/" "-" target ${name}-test)
        add_executable(${target} ${file})
        if(says MATCHES "counts" AND TESSERA_COUNT)
            target_sources(${target} PRIVATE $<TARGET_OBJECTS:counted>)
            target_compile_definitions(${target} PRIVATE WORK_IS_COUNTED)
        endif()
        set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        if(TESSERA_SANITIZE AND says MATCHES "long|large")
            set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON) # ./dev asan does not run it
        endif()
        target_compile_options(${target} PRIVATE ${warnings} ${hurry})
        target_link_libraries(${target} PRIVATE ${parts} -Wl,--as-needed PkgConfig::ARCHIVE) # by the test that writes archives
        if(HAS_GOLD)
            target_link_options(${target} PRIVATE -fuse-ld=gold)
        endif()
        if(says MATCHES "wrap=([a-z_,]+)")
            string(REPLACE "," ",--wrap=" wrapped ${CMAKE_MATCH_1})
            target_link_options(${target} PRIVATE -Wl,--wrap=${wrapped})
        endif()
        file(STRINGS ${file} main REGEX "^int main" LIMIT_COUNT 1)
        if(TESSERA_FUZZ AND NOT main)
            target_link_options(${target} PRIVATE -fsanitize=fuzzer)
        endif()
        add_test(NAME ${name} COMMAND ${target})
    else()
        add_test(NAME ${name} COMMAND sh ${file})
    endif()
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    string(REGEX MATCH "timeout=([0-9]+)" seconds "${says}")
    if(seconds)
        set(seconds ${CMAKE_MATCH_1})
    else()
        set(seconds 900) # for hangs only: machines are shared
    endif()
    set(labels architecture)
    if(name MATCHES "^([^/]+)/")
        set(labels ${CMAKE_MATCH_1})
    endif()
    if(says MATCHES "long")
        list(APPEND labels long)
    elseif(NOT labels STREQUAL "architecture" AND NOT says MATCHES "large")
        list(APPEND labels small)
    endif()
    if(says MATCHES "fast")
        list(APPEND labels fast)
        if(file MATCHES "\\.c$")
            list(APPEND fast ${target})
        endif()
    endif()
    # Sanitizers guess where variables of threads lie in libraries that are opened, by what is in front of them: that was
    # wrong with the stand-in, and the search for leaks crashed. Without it they are no roots of what is held.
    set(leaks 1)
    if(name MATCHES "/opencl/" OR says MATCHES "drivers")
        set(leaks 0)
    endif()
    set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT ${seconds} SKIP_RETURN_CODE 77
        ENVIRONMENT "TESSERA=${CMAKE_BINARY_DIR}/tessera;SOURCE=${CMAKE_SOURCE_DIR};BUILD=${CMAKE_BINARY_DIR};\
XDG_CACHE_HOME=${TESSERA_TEST_CACHE};COMPILER_PATH=${CMAKE_BINARY_DIR}/tests;\
ASAN_OPTIONS=allocator_may_return_null=1:intercept_tls_get_addr=0:detect_leaks=${leaks};UBSAN_OPTIONS=print_stacktrace=1")
    # PoCL compiles a kernel for groups of any size where its program is kept, and again for the size that is launched. The
    # former will do there; elsewhere the latter is all that it makes, and is faster.
    if(NOT says MATCHES "unkept")
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT POCL_WORK_GROUP_SPECIALIZATION=0)
    endif()
    set(level O1)
    if(says MATCHES " (O[3g])")
        set(level ${CMAKE_MATCH_1})
    endif()
    if(NOT level STREQUAL "O3")
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "TESSERA_CC=${CMAKE_BINARY_DIR}/tests/cc-${level}")
    endif()
    if(level STREQUAL "Og")
        set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT "TESSERA_OPENCL=-cl-opt-disable")
    endif()
    if(says MATCHES "large")
        set_tests_properties(${name} PROPERTIES COST 60) # first, where none has been timed: no long one is left for the end
    endif()
    if(says MATCHES "serial")
        set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
    endif()
endforeach()
add_custom_target(smoke DEPENDS command ${fast})

# ---- stand-ins for what a machine may lack: tests/NAME/NAME.cmake says how one is built ----
file(GLOB stand_ins CONFIGURE_DEPENDS tests/*/*.cmake)
foreach(file IN LISTS stand_ins)
    include(${file})
endforeach()

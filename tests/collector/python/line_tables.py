# Prints the line tables of this interpreter's own modules, and what the interpreter says about them:
# "code FORMAT FIRST-LINE TABLE-IN-HEX", then "OFFSET LINE" for each instruction that has one.
import argparse, asyncio, dataclasses, dis, json, sys, types


def codes(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes(constant)


for module in (argparse, dataclasses, json.decoder, asyncio.base_events):
    with open(module.__file__, encoding="utf-8") as file:
        for code in codes(compile(file.read(), module.__file__, "exec")):
            if sys.version_info >= (3, 10):
                kind = "locations" if sys.version_info >= (3, 11) else "ranges"
                print("code", kind, code.co_firstlineno, code.co_linetable.hex())
                for begin, end, line in code.co_lines():
                    if line is not None and line > 0:
                        print(*(f"{offset} {line}" for offset in range(begin, end, 2)), sep="\n")
            else:
                print("code", "steps", code.co_firstlineno, code.co_lnotab.hex() or "-")
                starts = list(dis.findlinestarts(code)) + [(len(code.co_code), 0)]
                for (begin, line), (end, _) in zip(starts, starts[1:]):
                    print(*(f"{offset} {line}" for offset in range(begin, end, 2)), sep="\n")

"""Runs test files of mpi4py's own suite on this rank: suite_mpi4py.py TESTDIR OUTDIR EXCEPTIONS MODULE...

Writes OUTDIR/RANK.tsv, a line for each event as it happens: `start TEST`, then one of
`passed skipped excused failed error TEST MESSAGE`, and at last `end`. A failure is excused when it is the error class
MPI_ERR_UNSUPPORTED_OPERATION raised by a procedure that the file EXCEPTIONS lists, one name a line.
"""

import importlib
import os
import re
import sys
import traceback
import unittest

testdir, outdir, exceptions = sys.argv[1:4]
modules = sys.argv[4:]
sys.dont_write_bytecode = True
sys.path.insert(0, testdir)
sys.modules["cupy"] = None
sys.modules["numba"] = None

from mpi4py import MPI  # noqa: E402

with open(exceptions, encoding="utf-8") as lines:
    UNSUPPORTED = {tuple(sorted(name.strip().lower().split("_")[1:])): name.strip() for name in lines}
# Where mpi4py's names differ from the standard's: classes, and whole methods.
KINDS = {
    "intracomm": "comm",
    "intercomm": "comm",
    "topocomm": "comm",
    "cartcomm": "cart",
    "graphcomm": "graph",
    "distgraphcomm": "dist_graph",
    "datatype": "type",
    "prequest": "request",
}
METHODS = {"compute_dims": "dims_create"}


def procedures(frame):
    """Which unsupported procedures a method of mpi4py may have called, judged by its name (`Intracomm.Create_cart`)."""
    parts = frame.lower().split(".")
    method = [t for t in METHODS.get(parts[-1], parts[-1]).split("_") if t]
    kind = KINDS.get(parts[-2], parts[-2]) if len(parts) > 1 else ""
    kinds = [[], kind.split("_"), ["comm"]]
    for extra in kinds:
        found = UNSUPPORTED.get(tuple(sorted(method + extra)))
        if found:
            yield found


def excuse(exception, trace):
    """The procedure whose absence explains this exception, or None."""
    if not isinstance(exception, MPI.Exception):
        return None
    if exception.Get_error_class() != MPI.ERR_UNSUPPORTED_OPERATION:
        return None
    text = str(exception)
    for name in UNSUPPORTED.values():
        if name in text.replace(",", " ").replace(":", " ").split():
            return name
    for frame in reversed(traceback.extract_tb(trace)):
        for name in procedures(frame.name):
            return name
    return None


class Result(unittest.TestResult):
    def __init__(self, out):
        super().__init__()
        self.out = out

    def say(self, what, test, message=""):
        message = re.sub(r" object at 0x[0-9a-f]+", "", str(message))
        message = message.replace("\\", "\\\\").replace("\t", " ").replace("\n", "\\n")
        self.out.write(f"{what}\t{test.id()}\t{message}\n")
        self.out.flush()

    def startTest(self, test):
        super().startTest(test)
        self.worst = None
        self.say("start", test)

    def stopTest(self, test):
        if self.worst is None:
            self.say("passed", test)
        super().stopTest(test)

    def bad(self, what, test, err):
        kind, value, trace = err
        name = excuse(value, trace)
        self.worst = what
        if name:
            self.say("excused", test, name)
        else:
            self.say(what, test, "".join(traceback.format_exception(kind, value, trace)))

    def addFailure(self, test, err):
        self.bad("failed", test, err)

    def addError(self, test, err):
        self.bad("error", test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.bad("failed" if issubclass(err[0], test.failureException) else "error", test, err)

    def addSkip(self, test, reason):
        self.worst = "skipped"
        self.say("skipped", test, reason)

    def addExpectedFailure(self, test, err):
        pass

    def addUnexpectedSuccess(self, test):
        self.worst = "failed"
        self.say("failed", test, "succeeded where a failure was expected")


class Import:
    """Stands for the tests of a module that cannot be imported: some call MPI while they are defined."""

    def __init__(self, module):
        self.module = module

    def id(self):
        return f"{self.module} (import)"


with open(os.path.join(outdir, f"{MPI.COMM_WORLD.Get_rank()}.tsv"), "w", encoding="utf-8") as out:
    result = Result(out)
    for module in modules:
        try:
            importlib.import_module(module)
        except Exception:
            result.bad("error", Import(module), sys.exc_info())
        else:
            unittest.TestLoader().loadTestsFromName(module).run(result)
    out.write("end\t\t\n")

"""What all checks in Python share: running one, and printing what it saw."""

import datetime
import decimal
import json
import os
import re
import sys
import traceback

WHERE = dict(host=os.environ["CW_HOST"], port=int(os.environ["CW_PORT"]), user=os.environ["CW_USER"], password=os.environ["CW_PASSWORD"])
seen = 0


def emit(name, value):
    print(json.dumps({"name": name, "value": value}, ensure_ascii=False), flush=True)


def check(name, f):
    """Prints what f saw. An error of the server is something seen; one of the client's own breaks the check."""
    global seen
    try:
        value = plain(f())
    except Exception as e:  # whatever a check raises belongs to it
        value = error(e)
    emit(name, value)
    seen += 1


def error(e):
    args = getattr(e, "args", ())
    if getattr(e, "errno", None) is not None and not isinstance(e, OSError):
        return {"class": type(e).__name__, "errno": e.errno, "sqlstate": getattr(e, "sqlstate", None), "message": text(getattr(e, "msg", ""))}
    orig = getattr(e, "orig", None) or (e.__cause__ if type(e).__module__.startswith("django") else None)
    if orig is not None and orig is not e:
        return {"class": type(e).__name__, "orig": error(orig)}
    if len(args) >= 2 and isinstance(args[0], int):
        return {"class": type(e).__name__, "errno": args[0], "message": text(str(args[1]))}
    if len(args) == 1 and type(e).__module__.split(".")[0] in ("pymysql", "MySQLdb", "mysql"):
        return {"class": type(e).__name__, "message": text(str(args[0]))}
    return {"broken": "".join(traceback.format_exception_only(type(e), e)).strip() + traceback.format_exc(limit=-2)[-300:]}


def text(s):
    return re.sub(r"'?127\.0\.0\.1'?:\d+", "ADDRESS", s)


def plain(v):
    """Makes values fit for JSON and keeps their types visible."""
    if v is None or isinstance(v, (bool, int, str)):
        return v
    if isinstance(v, (bytes, bytearray)):
        return {type(v).__name__: v.hex() if len(v) < 100 else len(v)}
    if isinstance(v, (float, decimal.Decimal, datetime.date, datetime.datetime, datetime.timedelta)):
        return {type(v).__name__: str(v)}
    if isinstance(v, dict):
        return {str(k): plain(x) for k, x in v.items()}
    if isinstance(v, (set, frozenset)):
        return {"set": sorted(v)}
    if isinstance(v, (list, tuple)):
        return [plain(x) for x in v]
    return {type(v).__name__: str(v)}


def run(c, sql, args=None, **kw):
    """All that a statement gives: results, counts, ids, or its error."""
    cur = c.cursor(**kw)
    try:
        cur.execute(sql, args) if args is not None else cur.execute(sql)
        results = []
        while True:
            if cur.description is None:
                results.append({"affected": cur.rowcount, "id": cur.lastrowid})
            else:
                columns = [list(d)[:7] for d in cur.description]
                results.append({"columns": columns, "rows": [list(r) for r in cur.fetchall()], "count": cur.rowcount})
            if not getattr(cur, "nextset", lambda: None)():
                break
        return results[0] if len(results) == 1 else results
    except Exception as e:
        return error(e)
    finally:
        try:
            cur.close()
        except Exception as e:
            print(e, file=sys.stderr)


def each(c, *statements):
    return [run(c, s) for s in statements]

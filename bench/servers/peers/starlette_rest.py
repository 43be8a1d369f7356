"""The REST API on Starlette and uvicorn, without keys, quota and limits: python starlette_rest.py PORT PAGE."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

port, page = int(sys.argv[1]), json.loads(Path(sys.argv[2]).read_text())


async def search(request: Request) -> JSONResponse:
    if not request.query_params.get("keywords"):
        return JSONResponse({"error": "bad_request"}, 400)
    return JSONResponse(page)


app = Starlette(routes=[Route("/api/open/v1/search", search)])
uvicorn.run(app, port=port, log_level="warning", access_log=False)

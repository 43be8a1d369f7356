// The second major version of the TypeScript SDK: node sdk2.mjs PORT PAGE {json,stateless,modern}.

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { NodeStreamableHTTPServerTransport, toNodeHandler } from '@modelcontextprotocol/node'
import { Server, createMcpHandler } from '@modelcontextprotocol/server'

const [port, file, mode] = process.argv.slice(2)
const page = JSON.parse(readFileSync(file, 'utf8'))
const sessions = new Map()

function server() {
  const made = new Server({ name: 'peer', version: '1' }, { capabilities: { tools: {} } })
  made.setRequestHandler('tools/call', async () => ({
    content: [{ type: 'text', text: JSON.stringify(page) }],
    structuredContent: page,
  }))
  return made
}

async function connected(sessionIdGenerator) {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator,
    enableJsonResponse: true,
    onsessioninitialized: id => sessions.set(id, transport),
  })
  await server().connect(transport)
  return transport
}

async function legacy(request, response) {
  const session = sessions.get(request.headers['mcp-session-id'])
  const transport = session ?? await connected(mode === 'stateless' ? undefined : randomUUID)
  await transport.handleRequest(request, response)
}

const modern = toNodeHandler(createMcpHandler(server))
createServer(mode === 'modern' ? modern : legacy).listen(Number(port), '127.0.0.1')

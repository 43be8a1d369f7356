// The first major version of the TypeScript SDK: node sdk1.mjs PORT PAGE {default,json,stateless}.

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { CallToolRequestSchema } from '@modelcontextprotocol/sdk/types.js'

const [port, file, mode] = process.argv.slice(2)
const page = JSON.parse(readFileSync(file, 'utf8'))
const sessions = new Map()

async function connected(sessionIdGenerator) {
  const server = new Server({ name: 'peer', version: '1' }, { capabilities: { tools: {} } })
  server.setRequestHandler(CallToolRequestSchema, async () => ({
    content: [{ type: 'text', text: JSON.stringify(page) }],
    structuredContent: page,
  }))
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator,
    enableJsonResponse: mode !== 'default',
    onsessioninitialized: id => sessions.set(id, transport),
  })
  await server.connect(transport)
  return transport
}

createServer(async (request, response) => {
  const session = sessions.get(request.headers['mcp-session-id'])
  const transport = session ?? await connected(mode === 'stateless' ? undefined : randomUUID)
  await transport.handleRequest(request, response)
}).listen(Number(port), '127.0.0.1')

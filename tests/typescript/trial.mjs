// What every client is to see of the directory; read by the scripts beside it, each for one version of the SDK.

import assert from 'node:assert/strict'

const UNKNOWN_ID = '00000000-0000-5000-8000-000000000000'

/**
 * Try one client, and print `ok` or the first thing that is off; the latter fails the process, too.
 *
 * `connect(url, options)` returns a client connected by a Streamable HTTP transport that was given `options`;
 * `stream` tells whether such a client opens a stream by GET of its own accord.
 */
export async function trial(name, { connect, stream }) {
  try {
    await refuses(connect)
    await serves(connect, stream)
    console.log(`ok    ${name}`)
  } catch (error) {
    console.error(`FAIL  ${name}: ${error.message}`)
    process.exitCode = 1
  }
}

async function refuses(connect) {
  const attempt = connect(url(), { requestInit: authorized('mcpd_wrong') })
  await assert.rejects(attempt, /API key|HTTP 401/, 'a wrong key must be refused')
}

async function serves(connect, stream) {
  const errors = []
  const { fetch, opened } = watched()
  const client = await connect(url(), { fetch, requestInit: authorized(process.env.KEY) })
  client.onerror = error => errors.push(error.message)
  try {
    await lists(client)
    await finds(client)
    await corrects(client)
    if (stream) await streams(opened)
    assert.deepEqual(errors, [], 'the transport must report no errors')
  } finally {
    await client.close()
  }
}

async function lists(client) {
  const { tools } = await client.listTools()
  assert.deepEqual(tools.map(tool => tool.name), ['search_mcp', 'get_mcp_detail'], 'these must be the tools')
  for (const tool of tools) assert.equal(tool.outputSchema?.type, 'object', `${tool.name} must have an outputSchema`)
}

async function finds(client) {
  const { success, data, count } = structured(await call(client, 'search_mcp', { keywords: 'github', limit: 3 }))
  assert.equal(success, true, 'a search must say that it succeeded')
  assert.ok(count >= 1 && count <= 3, `a search for github with limit 3 must find 1 to 3 entries, not ${count}`)
  assert.equal(data.length, count, 'count must be that of the entries')

  const [{ mcp_id, name }] = data
  const detail = structured(await call(client, 'get_mcp_detail', { mcp_id }))
  assert.equal(detail.data.mcp_id, mcp_id, 'the detail must be that of the entry asked for')
  assert.equal(detail.data.name, name, 'the detail must have the name that the search gave')
}

async function corrects(client) {
  const reduced = structured(await call(client, 'search_mcp', { keywords: 'github', limit: 500 }))
  assert.match(reduced.message, /limit: was reduced to 100/, 'limit 500 must be reduced, and the message must say so')
  const tooFew = await call(client, 'search_mcp', { keywords: 'github', limit: 0 })
  assert.equal(tooFew.isError, true, 'limit 0 must be an error of the tool')

  const unknown = await call(client, 'get_mcp_detail', { mcp_id: UNKNOWN_ID })
  assert.equal(unknown.isError, true, 'an unknown id must be an error of the tool')
  assert.match(unknown.content[0].text, /"error":"not_found"/, 'that error must have its code')

  await assert.rejects(call(client, 'no_such_tool', {}), { code: -32602 }, 'an unknown tool must be a protocol error')
}

async function streams(opened) {
  let timer
  const late = new Promise((_, reject) => {
    timer = setTimeout(reject, 5000, new Error('the client must open a stream by GET within 5 seconds'))
  })
  const response = await Promise.race([opened, late]).finally(() => clearTimeout(timer))
  assert.equal(response.status, 200, 'a stream by GET must open')
  assert.equal(response.headers.get('content-type'), 'text/event-stream', 'a stream by GET must be one of events')
}

/** Return a `fetch`, and a promise of the first response to a GET made with it. */
function watched() {
  let open
  const opened = new Promise(resolve => { open = resolve })
  const watching = async (input, init) => {
    const response = await fetch(input, init)
    if (init.method === 'GET') open(response)
    return response
  }
  return { fetch: watching, opened }
}

function call(client, name, args) {
  return client.callTool({ name, arguments: args })
}

function structured(result) {
  assert.ok(!result.isError, `a good call must succeed, not answer ${result.content[0].text}`)
  assert.deepEqual(JSON.parse(result.content[0].text), result.structuredContent, 'text and structure must be the same')
  return result.structuredContent
}

function authorized(key) {
  return { headers: { Authorization: `Bearer ${key}` } }
}

function url() {
  return new URL(process.env.URL)
}

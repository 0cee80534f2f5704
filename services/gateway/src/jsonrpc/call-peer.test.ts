// Calls to session peers are counted by how they ended: answered, refused for good, or without an answer for now.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMetrics } from '@baton/telemetry'
import { expect, it } from 'vitest'
import { createPeerCaller } from './call-peer.ts'
import type { KnownPeer } from './peers.ts'

const TEXT = {
  jsonrpc: '2.0',
  id: 1,
  result: { role: 'agent', parts: [{ kind: 'text', text: 'done' }] },
}
const REFUSED = { jsonrpc: '2.0', id: 1, error: { code: -32_600, message: 'no' } }

it('tells them apart', async () => {
  const answers = [
    { status: 200, body: TEXT },
    { status: 200, body: REFUSED },
    { status: 404, body: {} },
    { status: 503, body: {} },
    { status: 429, body: {} },
  ]
  const server = createServer((_, response) => {
    const { status, body } = answers.shift() ?? { status: 500, body: {} }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jsonrpc`
  const peer = { name: 'laptop', url, allowPrivate: true, token: undefined } as KnownPeer
  const metrics = createMetrics()
  const caller = createPeerCaller(metrics)
  const { signal } = new AbortController()
  const call = {
    messageId: 'm',
    role: 'user',
    contextId: 'c',
    text: 't',
    timeoutMs: 5_000,
  } as const
  for (let count = answers.length; count > 0; count -= 1)
    await caller.call(peer, { ...call, signal })
  caller.close()
  server.close()
  const { body } = await metrics.expose()
  const counted = [
    ...body.matchAll(/^baton_outside_calls_total\{kind="session",outcome="(\w+)"\} (\d)$/gm),
  ]
  expect(Object.fromEntries(counted.map(([, outcome, count]) => [outcome, Number(count)]))).toEqual(
    {
      ok: 1,
      refused: 2,
      failed: 2,
    },
  )
})

// The JSON-RPC of session peers, and the file that says who they are.
import { expect, it } from 'vitest'
import { readRpc, readRpcReply, rpcAnswer, rpcError, rpcSend } from './jsonrpc.ts'
import { readPeers } from './peers.ts'

const MAX = 1_048_576
const message = { role: 'user', parts: [{ text: 'hello' }, { text: 'again' }], contextId: 'c' }
const request = { jsonrpc: '2.0', id: 7, method: 'SendMessage', params: { message } }
const read = (value: unknown) =>
  readRpc(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), MAX)
const codeOf = (value: unknown) => {
  const answer = read(value)
  return answer.ok ? undefined : answer.refusal.code
}

it('S22 takes SendMessage and message/send, with the lower-case role and without a messageId', () => {
  for (const method of ['SendMessage', 'message/send'])
    expect(read({ ...request, method })).toEqual({
      ok: true,
      message: { id: 7, role: 'user', text: 'hello\nagain', contextId: 'c', messageId: null },
    })
})

it('S22 says where a body is no JSON, and how to mend it', () => {
  const answer = read('{"jsonrpc":"2.0","method":')
  expect(answer).toMatchObject({
    refusal: {
      message: 'Parse error: not one strict JSON value',
      data: {
        code: 'BATON_JSON_INVALID',
        detail: expect.stringContaining('column'),
        fix: expect.stringMatching(/\S/),
      },
    },
  })
})

it('S22 gives a message without a context one of its own', () => {
  const answer = read({ ...request, params: { message: { parts: [{ text: 'a' }] } } })
  expect(answer).toMatchObject({
    ok: true,
    message: { contextId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  })
})

it.each([
  ['no JSON', '{"jsonrpc":', -32700],
  ['a member twice', '{"id":1,"id":2}', -32700],
  ['a batch', [request], -32600],
  ['another version', { ...request, jsonrpc: '1.0' }, -32600],
  ['no method', { ...request, method: undefined }, -32600],
  ['an id that is an object', { ...request, id: {} }, -32600],
  ['another method', { ...request, method: 'GetTask' }, -32601],
  ['no params', { ...request, params: undefined }, -32602],
  ['the context beside the message', { ...request, params: { message, contextId: 'c' } }, -32602],
  ['no parts', { ...request, params: { message: { ...message, parts: [] } } }, -32602],
  [
    'parts without text',
    { ...request, params: { message: { ...message, parts: [{ file: 'a' }] } } },
    -32602,
  ],
  ['another role', { ...request, params: { message: { ...message, role: 'system' } } }, -32602],
  ['an empty context', { ...request, params: { message: { ...message, contextId: '' } } }, -32602],
])('S22 refuses %s', (_, value, code) => {
  expect(codeOf(value)).toBe(code)
})

it('S22 answers and sends as session peers read it', () => {
  expect(rpcAnswer({ id: 7, contextId: 'c', texts: ['hi'], messageId: 'm' })).toEqual({
    jsonrpc: '2.0',
    id: 7,
    result: {
      kind: 'message',
      message: { role: 'agent', parts: [{ text: 'hi' }], contextId: 'c', messageId: 'm' },
    },
  })
  expect(rpcError({ id: 7, code: -32001, message: 'busy' })).toMatchObject({
    error: { code: -32001, data: { retryable: true } },
  })
  const sent = rpcSend({ messageId: 'm', role: 'agent', contextId: 'c', text: 'done' })
  expect(read(sent)).toMatchObject({
    ok: true,
    message: { role: 'agent', text: 'done', messageId: 'm' },
  })
})

it('S22 reads what peers answer', () => {
  const reply = (value: object) => readRpcReply(Buffer.from(JSON.stringify(value)), MAX)
  expect(reply(rpcAnswer({ id: 1, contextId: 'c', texts: ['a', 'b'], messageId: 'm' }))).toEqual({
    kind: 'text',
    text: 'a\nb',
  })
  expect(reply({ result: { role: 'agent', parts: [{ text: 'a' }] } })).toEqual({
    kind: 'text',
    text: 'a',
  })
  expect(reply({ error: { code: -32001 } })).toEqual({ kind: 'busy' })
  expect(reply({ error: { code: -32000 } })).toEqual({ kind: 'refused', code: -32000 })
  expect(reply({ result: {} })).toEqual({ kind: 'text', text: '' })
  expect(reply({ result: 'ok' })).toEqual({ kind: 'unreadable' })
  expect(readRpcReply(Buffer.from('<html>'), MAX)).toEqual({ kind: 'unreadable' })
})

const peers = (...list: object[]) => readPeers(Buffer.from(JSON.stringify({ peers: list })))
const worker = {
  name: 'worker',
  worksAs: 'coder',
  url: 'http://127.0.0.1:9/jsonrpc',
  allowPrivate: true,
}

it('S22 reads the file of peers, with the usual limits', () => {
  expect(
    peers(worker, { name: 'hermes', inboundSha256: 'a'.repeat(64), sendsTo: 'coder' }),
  ).toMatchObject({
    ok: true,
    value: [
      {
        name: 'worker',
        contextsMax: 3,
        tasksMax: 3,
        workMs: 900_000,
        tokenTolerance: 0.2,
        inboundSha256: null,
        nextStepsTo: null,
      },
      { name: 'hermes', sendsTo: 'coder', url: null, allowPrivate: false },
    ],
  })
})

it.each([
  ['a mistyped member', [{ ...worker, worksFor: 'x' }], '/peers/0/worksFor'],
  ['a mistyped limit', [{ ...worker, limits: { tasks: 1 } }], '/peers/0/limits/tasks'],
  ['the same name twice', [worker, worker], '/peers/1/name'],
  ['an operator that is none', [{ name: 'a', operator: 'two words' }], '/peers/0/operator'],
  [
    'the same operator twice',
    [
      { name: 'a', operator: 'acme/a' },
      { name: 'b', operator: 'acme/a' },
    ],
    '/peers/1/operator',
  ],
  [
    'a token beside an operator',
    [{ name: 'a', operator: 'acme/a', inboundSha256: 'a'.repeat(64) }],
    '/peers/0/operator',
  ],
  ['work for another tenant', [{ ...worker, operator: 'acme/a' }], '/peers/0/worksAs'],
  [
    'the same token twice',
    [
      { name: 'a', inboundSha256: 'a'.repeat(64) },
      { name: 'b', inboundSha256: 'a'.repeat(64) },
    ],
    '/peers/1/inboundSha256',
  ],
  ['no digest', [{ name: 'a', inboundSha256: 'secret' }], '/peers/0/inboundSha256'],
  ['a worker without an address', [{ ...worker, url: null }], '/peers/0/url'],
  ['next steps of nobody', [{ name: 'a', nextStepsTo: 'b' }], '/peers/0/nextStepsTo'],
  ['a password in an address', [{ ...worker, url: 'http://a:b@c/' }], '/peers/0/url'],
  ['another scheme', [{ ...worker, url: 'file:///etc/passwd' }], '/peers/0/url'],
  ['two places for a token', [{ ...worker, tokenFile: 'a', tokenEnv: 'B' }], '/peers/0/tokenEnv'],
  ['a limit of nothing', [{ ...worker, limits: { tasksMax: 0 } }], '/peers/0/limits/tasksMax'],
  [
    'a tolerance above all',
    [{ ...worker, limits: { tokenTolerance: 2 } }],
    '/peers/0/limits/tokenTolerance',
  ],
])('S22 refuses a file of peers with %s', (_, list, pointer) => {
  expect(peers(...list)).toMatchObject({ ok: false, pointer, fix: expect.stringMatching(/\S/) })
})

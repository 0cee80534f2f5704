// A direct call over loopback: answered once its handler has ended or the caller waits no longer, and never an error to who called.
import { randomUUID } from 'node:crypto'
import { createLogger } from '@baton/runtime'
import { afterEach, describe, expect, it } from 'vitest'
import { createDirectCalls } from './direct-calls.ts'
import { parseReceivers } from './receiver-urls.ts'
import type { DirectCallsOptions } from './direct-calls.ts'
import { openDirectEntry } from './direct-entry.ts'
import type { DirectEntryOptions } from './direct-entry.ts'

const logger = createLogger({ service: 'test', destination: { write: () => undefined } })
const TOKEN = 'token-of-the-test'
const closes: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closes.splice(0)) await close()
})

async function entry(
  handle: DirectEntryOptions['handle'],
  changes: Partial<DirectEntryOptions> = {},
) {
  const opened = await openDirectEntry({
    host: '127.0.0.1',
    port: 0,
    token: TOKEN,
    agentTypes: ['review'],
    concurrency: 2,
    handle,
    logger,
    ...changes,
  })
  closes.push(opened.stop)
  return opened
}

function callsTo(url: string, changes: Partial<DirectCallsOptions> = {}) {
  const calls = createDirectCalls({
    receivers: new Map([['*', url]]),
    token: TOKEN,
    waitMs: 5_000,
    ...changes,
  })
  closes.push(calls.close)
  return calls
}

const review = () => ({ agentType: 'review', handoffId: randomUUID(), publishAttempt: 1 })

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { opened: promise, open: resolve }
}

describe('a direct call', () => {
  it('says whether it was the one that claimed', async () => {
    const handled: unknown[] = []
    const { url } = await entry(async (claim, agentType) => {
      handled.push({ ...claim, agentType })
      return handled.length === 1
    })
    const calls = callsTo(url)
    const first = review()
    expect(await calls.call(first)).toEqual({ taken: true, ended: true })
    expect(await calls.call(first)).toEqual({ taken: false, ended: true })
    expect(handled).toEqual([first, first])
  })

  it('is answered when the caller waits no longer, and goes on', async () => {
    const slow = gate()
    let isDone = false
    const { url, stop } = await entry(() => slow.opened.then(() => (isDone = true)))
    const calls = callsTo(url, { waitMs: 20 })
    expect(await calls.call(review())).toEqual({ taken: true, ended: false })
    slow.open()
    await stop()
    expect(isDone).toBe(true)
  })

  it('goes on where its caller goes away', async () => {
    const [begun, slow] = [gate(), gate()]
    let isDone = false
    const { url, stop } = await entry(async () => {
      begun.open()
      await slow.opened
      return (isDone = true)
    })
    const calls = callsTo(url)
    const calling = calls.call(review())
    await begun.opened
    calls.close()
    expect(await calling).toBe('failed')
    slow.open()
    await stop()
    expect(isDone).toBe(true)
  })

  it.each<[string, Partial<DirectEntryOptions>, Partial<DirectCallsOptions>, object]>([
    ['with another token', {}, { token: 'wrong' }, {}],
    ['for an agent type that is not hosted', {}, {}, { agentType: 'other' }],
    ['above what the receiver takes', { concurrency: 0 }, {}, {}],
    ['of another form', {}, {}, { handoffId: 'x' }],
    [
      'where no receiver is named',
      {},
      { receivers: new Map([['other', 'http://127.0.0.1:1']]) },
      {},
    ],
    ['to nobody', {}, { receivers: new Map([['*', 'http://127.0.0.1:1']]) }, {}],
  ])('fails %s, and nothing is handled', async (_, options, callOptions, changes) => {
    let handled = 0
    const { url } = await entry(async () => (handled += 1) > 0, options)
    expect(await callsTo(url, callOptions).call({ ...review(), ...changes })).toBe('failed')
    expect(handled).toBe(0)
  })

  it('takes nothing while it is paused', async () => {
    const { url, pause, resume } = await entry(async () => true)
    const calls = callsTo(url)
    await pause()
    expect(await calls.call(review())).toBe('failed')
    await resume()
    expect(await calls.call(review())).toEqual({ taken: true, ended: true })
  })

  it('was not taken where the handler fails', async () => {
    const { url } = await entry(() => Promise.reject(new Error('no database')))
    expect(await callsTo(url).call(review())).toEqual({ taken: false, ended: true })
  })

  it('is not made for a while to a receiver that does not answer', async () => {
    const paused: [string, boolean][] = []
    const calls = callsTo('http://127.0.0.1:1', { onPaused: (...told) => paused.push(told) })
    for (let time = 0; time < 6; time += 1) expect(await calls.call(review())).toBe('failed')
    expect(paused).toEqual([['http://127.0.0.1:1', true]])
  })
})

describe('the list of receivers', () => {
  it.each([
    ['http://a:1', [['*', 'http://a:1']]],
    [
      'review=http://a:1, *=https://b',
      [
        ['review', 'http://a:1'],
        ['*', 'https://b'],
      ],
    ],
  ])('reads %s', (text, expected) => {
    expect([...parseReceivers(text)]).toEqual(expected)
  })

  it.each(['', 'a', 'review=', 'ftp://a', 'http://a:1,http://b:2', 'http://'])(
    'refuses %j',
    (text) => {
      expect(() => parseReceivers(text)).toThrow(
        expect.objectContaining({ code: 'BATON_SYNC_RECEIVERS_INVALID' }),
      )
    },
  )
})

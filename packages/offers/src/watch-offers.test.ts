// Watching a folder: what is offered, every change once, and nothing lost where telling fails.
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { once } from 'node:events'
import { afterAll, describe, expect, it } from 'vitest'
import { openFolder } from './folder-storage.ts'
import { createOfferWebhook } from './offer-webhook.ts'
import { createOffers } from './offers.ts'
import type { OfferStorage } from './storage.ts'
import { createLook } from './watch-offers.ts'
import type { OfferChange } from './watch-offers.ts'
import { whileWatching } from './while-watching.ts'

const ROOT = mkdtempSync(join(tmpdir(), 'baton-watch-'))
afterAll(() => rmSync(ROOT, { recursive: true }))

let made = 0
function openNew() {
  const storage = openFolder(join(ROOT, `folder-${(made += 1)}`))
  return { storage, offers: createOffers({ storage }) }
}
const SCAN = { description: 'Review', from_agent: 'scanner' }
const short = ({ handoff, previous }: OfferChange) =>
  `${handoff.task_id} ${previous} ${handoff.status}`

describe('P18 a look', () => {
  it('tells first what is offered, and then every change once', async () => {
    const { offers } = openNew()
    for (const id of ['a', 'b']) await offers.createHandoff({ ...SCAN, task_id: id })
    await offers.acceptHandoff('b', 'x')
    const told: string[] = []
    const look = createLook(offers, async (change) => void told.push(short(change)))
    await look()
    await look()
    expect(told.splice(0)).toEqual(['a undefined offered'])
    await offers.acceptHandoff('a', 'x')
    await offers.completeHandoff('b')
    await offers.createHandoff({ ...SCAN, task_id: 'c' })
    await look()
    await look()
    expect(told).toEqual(['a offered accepted', 'b accepted completed', 'c undefined offered'])
  })
  it('tells again what could not be told, by the same id', async () => {
    const { offers } = openNew()
    for (const id of ['a', 'b', 'c']) await offers.createHandoff({ ...SCAN, task_id: id })
    const tried: string[] = []
    const ids = new Set<string>()
    const look = createLook(offers, async (change) => {
      tried.push(change.handoff.task_id)
      ids.add(change.id)
      if (tried.length === 2) throw new Error('away')
    })
    await expect(look()).rejects.toThrow('away')
    await look()
    expect(tried).toEqual(['a', 'b', 'b', 'c'])
    expect(ids.size).toBe(3)
  })
})

describe('P18 watching', () => {
  async function watchesFor(storage: OfferStorage, everyMs: number): Promise<readonly string[]> {
    const offers = createOffers({ storage })
    await offers.createHandoff({ ...SCAN, task_id: 'a' })
    const told: string[] = []
    const stopping = new AbortController()
    const look = createLook(offers, async (change) => {
      told.push(short(change))
      if (change.handoff.status === 'completed') stopping.abort()
      else if (change.handoff.status === 'accepted') await offers.completeHandoff('a')
    })
    const watching = whileWatching({ storage, everyMs, signal: stopping.signal }, async () => {
      await look()
      if (told.length === 1) await offers.acceptHandoff('a', 'x')
    })
    await watching
    return told
  }
  const ALL = ['a undefined offered', 'a offered accepted', 'a accepted completed']

  it('looks at once when the folder says that it changed', async () => {
    expect(await watchesFor(openNew().storage, 1_000_000)).toEqual(ALL)
  })
  it('looks from time to time where nothing says so', async () => {
    const { watch: _, ...silent } = openNew().storage
    expect(await watchesFor(silent, 5)).toEqual(ALL)
  })
  it('ends at once when it is told to, and of a folder that is not there yet', async () => {
    const stopping = new AbortController()
    setImmediate(() => stopping.abort())
    const { storage } = openNew()
    await whileWatching(
      { storage, everyMs: 1_000_000, signal: stopping.signal },
      async () => undefined,
    )
    expect(stopping.signal.aborted).toBe(true)
  })
})

describe('P18 a webhook', () => {
  it('is told each change, signed; the id stays where it has to be told again', async () => {
    const got: { id: unknown; url: string | undefined; body: string; signed: boolean }[] = []
    const server = createServer((request, response) => {
      const parts: Buffer[] = []
      request.on('data', (part: Buffer) => parts.push(part))
      request.on('end', () => {
        const { 'webhook-id': id, 'webhook-signature': signature } = request.headers
        const body = Buffer.concat(parts).toString()
        got.push({ id, url: request.url, body, signed: String(signature).startsWith('v1,') })
        response.statusCode = got.length === 1 ? 503 : 204
        response.end()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const webhook = createOfferWebhook({
      url: `http://127.0.0.1:${port}/hook?team=a`,
      secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
    })
    const { offers } = openNew()
    const offer = await offers.createHandoff(SCAN)
    const look = createLook(offers, webhook.tell)
    await expect(look()).rejects.toMatchObject({
      code: 'BATON_WEBHOOK_UNAVAILABLE',
      kind: 'transient',
    })
    await look()
    await offers.rejectHandoff(offer.task_id)
    await look()
    webhook.close()
    server.close()
    expect(got.map(({ url, signed }) => [url, signed])).toEqual(
      Array(3).fill(['/hook?team=a', true]),
    )
    expect(got[0]?.id).toBe(got[1]?.id)
    expect(got[2]?.id).not.toBe(got[1]?.id)
    expect(JSON.parse(got[1]?.body ?? '')).toEqual({
      type: 'handoff.offered',
      timestamp: offer.updated_at,
      data: offer,
    })
    expect(JSON.parse(got[2]?.body ?? '')).toMatchObject({ type: 'handoff.rejected' })
  })
})

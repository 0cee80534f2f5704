// The witness answers as C2SP tlog-witness says, and never cosigns two histories of one log.
import { createHash } from 'node:crypto'
import { mkdtemp, rename, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createNoteSigner,
  EMPTY_ROOT,
  encodeUtf8,
  formatCheckpoint,
  formatVerifierKey,
  hashLeaf,
  openNote,
  proveConsistency,
  readVerifierKey,
  rootOf,
  signNote,
  toBase64,
} from '@baton/ledger'
import type { TreeNode } from '@baton/ledger'
import { fetchAfresh, openCrowd, spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { privateKey } from './audit-seals-fixture.ts'

const ORIGIN = 'example.com/log'
const signer = createNoteSigner({ name: ORIGIN, pkcs8: privateKey() })
const stranger = createNoteSigner({ name: 'example.com/other', pkcs8: privateKey() })
const thief = createNoteSigner({ name: ORIGIN, pkcs8: privateKey() })
const ROTATED = 'example.com/rotated'
const earlier = createNoteSigner({ name: ROTATED, pkcs8: privateKey() })
const later = createNoteSigner({ name: ROTATED, pkcs8: privateKey() })
/** As Go's checksum database has it. */
const FOREIGN_ORIGIN = 'go.sum database tree'
const foreign = createNoteSigner({ name: 'sum.example.org', pkcs8: privateKey() })
const witnessKey = privateKey()
const leaves = Array.from({ length: 12 }, (_, at) => hashLeaf(encodeUtf8(`entry ${at}`)))
const forked = leaves.map((leaf, at) => (at < 3 ? leaf : hashLeaf(encodeUtf8(`forged ${at}`))))

let folder = ''
let witness: ServiceProcess
let url = ''

const start = async (env: Record<string, string> = {}): Promise<ServiceProcess> => {
  const service = await spawnService({
    main: 'services/witness/src/main.ts',
    env: {
      BATON_WITNESS_NAME: 'witness.example.com',
      BATON_WITNESS_SIGNING_KEY: witnessKey,
      BATON_WITNESS_LOGS: [
        ...[signer, earlier, later].map(({ key }) => formatVerifierKey(key)),
        `${formatVerifierKey(foreign.key)} ${FOREIGN_ORIGIN}`,
      ].join(', '),
      BATON_WITNESS_STATE_FILE: join(folder, 'witness.json'),
      BATON_WITNESS_FIRST_START: '1',
      BATON_WITNESS_PORT: '0',
      ...env,
    },
  })
  url = /"url":"([^"]+)"/.exec(service.output())?.[1] as string
  return service
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-witness-'))
  witness = await start()
})
afterAll(async () => {
  await witness?.kill()
  await rm(folder, { recursive: true, force: true })
})

interface Offer {
  readonly old: number
  readonly size: number
  readonly of?: readonly Uint8Array[]
  readonly by?: typeof signer
  readonly proof?: readonly Uint8Array[]
}

const rootAt = (of: readonly Uint8Array[], size: number) => rootOf(of.slice(0, size))

async function add({ old, size, of = leaves, by = signer, proof }: Offer): Promise<Response> {
  const read = async (nodes: readonly TreeNode[]) =>
    nodes.map(({ level, index }) => rootOf(of.slice(index * 2 ** level, (index + 1) * 2 ** level)))
  const proven = old > size ? [] : await proveConsistency(read, { fromSize: old, toSize: size })
  const hashes = (proof ?? proven).map((hash) => `${toBase64(hash)}\n`).join('')
  const text = formatCheckpoint({ origin: by.key.name, size, root: rootAt(of, size) })
  return fetch(`${url}/add-checkpoint`, {
    method: 'POST',
    body: `old ${old}\n${hashes}\n${signNote(text, [by])}`,
  })
}

describe('add-checkpoint', () => {
  test('200 with a cosignature, from the first checkpoint on and for each that extends it', async () => {
    for (const [old, size] of [
      [0, 1],
      [1, 3],
      [3, 3],
      [3, 8],
    ] as const) {
      const response = await add({ old, size })
      expect([size, response.status]).toEqual([size, 200])
      const text = formatCheckpoint({ origin: ORIGIN, size, root: rootAt(leaves, size) })
      const note = encodeUtf8(`${text}\n${await response.text()}`)
      const key = /"key":"([^"]+)"/.exec(witness.output())?.[1] as string
      const opened = openNote(note, [readVerifierKey(key)])
      expect(opened).toMatchObject({ ok: true, signatures: [{ type: 0x04 }] })
    }
  })

  test('what it cosigned last is there for monitors, with the signatures of both', async () => {
    const name = createHash('sha256').update(ORIGIN).digest('hex')
    const response = await fetch(`${url}/${name}/checkpoint`)
    expect(response.status).toBe(200)
    const key = /"key":"([^"]+)"/.exec(witness.output())?.[1] as string
    const opened = openNote(encodeUtf8(await response.text()), [signer.key, readVerifierKey(key)])
    const text = formatCheckpoint({ origin: ORIGIN, size: 8, root: rootAt(leaves, 8) })
    expect(opened).toMatchObject({ ok: true, text, signatures: [{ type: 0x01 }, { type: 0x04 }] })
    expect((await fetch(`${url}/${'0'.repeat(64)}/checkpoint`)).status).toBe(404)
  })

  test('422 for an empty tree with another root, and nothing is remembered of it', async () => {
    const of = (root: Uint8Array) => {
      const text = formatCheckpoint({ origin: FOREIGN_ORIGIN, size: 0, root })
      return `old 0\n\n${signNote(text, [foreign])}`
    }
    const post = async (body: string) =>
      (await fetch(`${url}/add-checkpoint`, { method: 'POST', body })).status
    expect(await post(of(new Uint8Array(32).fill(7)))).toBe(422)
    expect(await post(of(EMPTY_ROOT))).toBe(200)
  })

  test('a log whose key has another name than its origin is witnessed', async () => {
    const text = formatCheckpoint({ origin: FOREIGN_ORIGIN, size: 3, root: rootAt(leaves, 3) })
    const body = `old 0\n\n${signNote(text, [foreign])}`
    const response = await fetch(`${url}/add-checkpoint`, { method: 'POST', body })
    expect(response.status).toBe(200)
    const key = /"key":"([^"]+)"/.exec(witness.output())?.[1] as string
    const note = encodeUtf8(`${text}\n${await response.text()}`)
    expect(openNote(note, [readVerifierKey(key)])).toMatchObject({ ok: true })
  })

  test('409 with the size it knows for any other old size', async () => {
    for (const old of [0, 1, 7]) {
      const response = await add({ old, size: 12 })
      expect(response.status).toBe(409)
      expect(response.headers.get('content-type')).toBe('text/x.tlog.size')
      expect(await response.text()).toBe('8\n')
    }
  })

  test('T19 422 for another root of the same size, and for a log that does not extend it', async () => {
    expect((await add({ old: 8, size: 8, of: forked, proof: [] })).status).toBe(422)
    expect((await add({ old: 8, size: 12, of: forked })).status).toBe(422)
    expect((await add({ old: 8, size: 12, proof: [] })).status).toBe(422)
  })

  test('400, 403, 404 for what is no request, not signed, or of an unknown log', async () => {
    const post = async (body: string) =>
      (await fetch(`${url}/add-checkpoint`, { method: 'POST', body })).status
    expect(await post('')).toBe(400)
    expect(await post('old x\n\nnote\n')).toBe(400)
    expect(await post(`old 0\n${'AAAA\n'.repeat(2)}\nnote`)).toBe(400)
    expect(await post('x'.repeat(70_000))).toBe(400)
    expect((await add({ old: 9, size: 8 })).status).toBe(400)
    expect((await add({ old: 8, size: 12, by: thief })).status).toBe(403)
    expect((await add({ old: 0, size: 1, by: stranger })).status).toBe(404)
    expect((await fetch(`${url}/add-checkpoint`)).status).toBe(405)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })

  test('it answers however many connections are kept open', async () => {
    const crowd = await openCrowd(url, {
      count: 84,
      bytes: 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n',
      until: 'data',
    })
    for (let time = 0; time < 10; time += 1) expect(await fetchAfresh(`${url}/healthz`)).toBe(200)
    crowd.close()
  })

  test('of two that come at once, both old, one is taken', async () => {
    const answers = await Promise.all([add({ old: 8, size: 10 }), add({ old: 8, size: 11 })])
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409])
  })
})

test('once another key of a log has taken over, the earlier one signs nothing more, also after a restart', async () => {
  expect((await add({ old: 0, size: 2, by: earlier })).status).toBe(200)
  expect((await add({ old: 2, size: 4, by: later })).status).toBe(200)
  const refused = async () => {
    const longer = await add({ old: 4, size: 5, by: earlier })
    const same = await add({ old: 4, size: 4, by: earlier })
    return [longer.status, same.status, await longer.text()]
  }
  const expected = [403, 403, 'another key of the log has taken over from this one\n']
  expect(await refused()).toEqual(expected)
  await witness.kill()
  witness = await start()
  expect(await refused()).toEqual(expected)
  expect((await add({ old: 4, size: 5, by: later })).status).toBe(200)
})

test('a restart and a crash before the state is stored forget nothing that was cosigned', async () => {
  const known = Number(await (await add({ old: 0, size: 12 })).text())
  await witness.kill()
  witness = await start({ BATON_CRASH_AT: 'witness.before_rename' })
  await add({ old: known, size: 12 }).catch(() => undefined)
  await witness.exited()
  witness = await start()
  expect(await (await add({ old: 0, size: 12 })).text()).toBe(`${known}\n`)
  expect((await add({ old: known, size: 12 })).status).toBe(200)
})

test('one that lost what it knew does not start as a new one, and cosigns no fork', async () => {
  await witness.kill()
  const state = join(folder, 'witness.json')
  await rename(state, `${state}.away`)
  await expect(start({ BATON_WITNESS_FIRST_START: '0' })).rejects.toThrow(
    'BATON_WITNESS_STATE_MISSING',
  )
  await rename(`${state}.away`, state)
  witness = await start({ BATON_WITNESS_FIRST_START: '0' })
  expect((await add({ old: 12, size: 12 })).status).toBe(200)
})

test('a first start makes the file at once, so that the next one is none', async () => {
  const state = join(folder, 'new.json')
  const first = await start({ BATON_WITNESS_STATE_FILE: state })
  await first.kill()
  const next = await start({ BATON_WITNESS_STATE_FILE: state, BATON_WITNESS_FIRST_START: '0' })
  expect((await add({ old: 0, size: 1 })).status).toBe(200)
  await next.kill()
})

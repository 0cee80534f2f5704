// Tools of others read the log over HTTP with a token for its tiles alone: Go's checksum-database packages, and Python's standard library.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createBatchSigner, formatVerifierKey, SIGNATURE_TYPES, verifierKey } from '@baton/ledger'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

const run = promisify(execFile)
const FOLDER = join(import.meta.dirname, 'outsiders')
const TILES_TOKEN = 'tiles-token-9db5f8c9ab0edb1730551e'
const LOGS = [
  ['', 'baton/development/seals'],
  ['/chains/0', 'baton/development/1/s0'],
] as const

const answers = (command: string, ...args: string[]): boolean => {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 30_000 })
    return true
  } catch {
    return false
  }
}

/** Where the distribution's package golang-golang-x-mod-dev puts the sources, or wherever GOPATH says. */
const goPath = [process.env['GOPATH'] ?? '', '/usr/share/gocode'].find((path) =>
  existsSync(join(path, 'src/golang.org/x/mod/sumdb/tlog')),
)
const hasGo = goPath !== undefined && answers('go', 'version')
const hasPython = answers('python3', '--version')

let fixture: AuditFixture
let sealing: Sealing
let auditor: RunningAuditor

beforeAll(async () => {
  fixture = await createAuditFixture(1)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_TILES_TOKEN: TILES_TOKEN,
  })
  await auditor.client.append(Array.from({ length: 600 }, () => entryOf()))
  const sealer = await sealing.startSealer({ BATON_SEAL_HEARTBEAT_MS: '100' })
  await sealing.sealed()
  await sealer.stop()
})
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

const vkeyOf = (origin: string): string => {
  const spki = createBatchSigner(sealing.sealKey).publicKey.export({ format: 'der', type: 'spki' })
  const raw = Uint8Array.from(spki.subarray(-32))
  return formatVerifierKey(verifierKey(origin, SIGNATURE_TYPES.ed25519, raw))
}

describe.each(LOGS)('the log at %j', (prefix, origin) => {
  test.skipIf(!hasGo)(
    `is read and proven by golang.org/x/mod/sumdb${hasGo ? '' : ' (needs go and golang-golang-x-mod-dev)'}`,
    async () => {
      const program = join(FOLDER, 'read_log.go')
      const args = ['run', program, `${auditor.url}${prefix}`, vkeyOf(origin), TILES_TOKEN]
      const env = { ...process.env, GO111MODULE: 'off', GOPATH: goPath, GOFLAGS: '' }
      const { stdout } = await run('go', args, { env })
      expect(stdout).toMatch(new RegExp(`^${origin} \\d+\n$`))
    },
  )

  test.skipIf(!hasPython)(
    `is read by Python alone${hasPython ? '' : ' (needs python3)'}`,
    async () => {
      const program = join(FOLDER, 'read_log.py')
      const { stdout } = await run('python3', [program, `${auditor.url}${prefix}`, TILES_TOKEN])
      expect(stdout).toMatch(new RegExp(`^${origin} \\d+\n$`))
    },
  )
})

test.skipIf(!hasPython)(
  `the map of tasks is made of tiles as verifier/FORMAT.md says${hasPython ? '' : ' (needs python3)'}`,
  async () => {
    const program = join(FOLDER, 'read_tasks.py')
    const { stdout } = await run('python3', [program, auditor.url, TILES_TOKEN])
    expect(stdout).toBe('600 tasks\n')
  },
)

describe.skipIf(!hasPython)(
  `the end of a task is proven over HTTP, node by node${hasPython ? '' : ' (needs python3)'}`,
  () => {
    const program = join(FOLDER, 'read_end.py')
    const prove = async (taskId: string) =>
      (await run('python3', [program, auditor.url, TILES_TOKEN, taskId])).stdout

    test('to the last of its records', async () => {
      const { rows } = await fixture.reader.query<{ taskId: string; hash: string }>({
        text: `select task_id as "taskId", encode(record_hash, 'hex') as hash from audit.record where seq = 311`,
      })
      const [{ taskId, hash } = { taskId: '', hash: '' }] = rows
      expect(await prove(taskId)).toBe(`1 records, the last is ${hash}\n`)
    })

    test('or to the proof that it never had one', async () => {
      expect(await prove('00000000-0000-4000-8000-000000000000')).toMatch(/^no record until \d/)
    })
  },
)

test.each(['/tasks/1/0g', '/tasks/0/root', '/tasks/1/xyz', `/tasks/1/${'0'.repeat(25)}`])(
  'a node that is not there is answered with 404: %s',
  async (path) => {
    const headers = { authorization: `Bearer ${TILES_TOKEN}` }
    const answer = await fetch(`${auditor.url}${path}`, { headers })
    const { code } = (await answer.json()) as { code: string }
    expect([answer.status, code]).toEqual([404, 'BATON_TASK_MAP_NODE_UNKNOWN'])
  },
)

test('the token for tiles reads nothing else', async () => {
  const ask = async (path: string, token = TILES_TOKEN) =>
    (await fetch(`${auditor.url}${path}`, { headers: { authorization: `Bearer ${token}` } })).status
  expect(await ask('/checkpoint')).toBe(200)
  expect(await ask('/checkpoint', 'other')).toBe(403)
  const id = '00000000-0000-4000-8000-000000000000'
  for (const path of ['/v1/tiers', `/v1/traces/${id}`, '/v1/scrub', '/v1/verify']) {
    expect([path, await ask(path)]).toEqual([path, 403])
  }
  expect(await ask('/v1/tiers', 'read-token-ecae13117d6f0584c25a9d')).toBe(200)
})

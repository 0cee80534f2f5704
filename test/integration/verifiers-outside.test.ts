// A bundle made here verifies on a machine without Baton; one flipped byte anywhere is named by every verifier.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { randomUUID } from 'node:crypto'
import { parseAuditorPolicy, verifyBundle } from '@baton/ledger'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture } from './audit-fixture.ts'
import { createSealing, privateKey } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'
import { verifyEach } from './verifier-drivers.ts'
import type { Finding, Flip, Report, Turned } from './verifier-drivers.ts'

const VERIFIERS = new URL('../../packages/ledger/verifier/', import.meta.url)
const EVIDENCE = { authorization: 'Bearer evidence-token-14e10d570047667f904261' }
const FLIPS = 600
const SEED = 20_261_120

let fixture: AuditFixture
let sealing: Sealing
let folder: string
let bundle: Buffer
let policy: string

beforeAll(async () => {
  fixture = await createAuditFixture(1)
  sealing = await createSealing(fixture)
  const auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
    BATON_EVIDENCE_SIGNING_KEY: privateKey(),
  })
  await sealing.startSealer()
  const [taskId, handoffId] = [randomUUID(), randomUUID()]
  await auditor.client.append([entryOf({ taskId, handoffId })])
  await auditor.client.append([entryOf(), entryOf()])
  const end = { event: 'EXECUTION_COMPLETED' as const, segments: [] }
  await auditor.client.append([entryOf({ taskId, handoffId, ...end })])
  await sealing.sealed()
  const ask = (path: string) => fetch(auditor.url + path, { headers: EVIDENCE })
  bundle = Buffer.from(await (await ask(`/v1/evidence/${taskId}`)).arrayBuffer())
  policy = await (await ask('/v1/policy')).text()
  folder = await mkdtemp(join(tmpdir(), 'baton-outside-'))
  await writeFile(join(folder, 'task.tar'), bundle)
  await writeFile(join(folder, 'auditor.policy'), policy)
  for (const name of ['generated/baton-verify.mjs', 'baton_verify.py']) {
    const file = name.split('/').at(-1) as string
    await copyFile(fileURLToPath(new URL(name, VERIFIERS)), join(folder, file))
  }
}, 60_000)
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
  await rm(folder, { recursive: true, force: true })
})

/** Mulberry32: the same numbers for the same seed. */
function random(): () => number {
  let state = SEED
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

/** Half of them before the page, which is most of the bundle. */
function chooseFlips(): readonly Flip[] {
  const next = random()
  const page = headerOf('index.html')
  return Array.from({ length: FLIPS }, (_, number) => [
    next() % (number % 2 === 0 ? page : bundle.length),
    1 + (next() % 255),
  ])
}

const headerOf = (name: string): number => bundle.indexOf(`${name}\0`)

interface Line {
  readonly from: number
  readonly to: number
  /** Matches the record in the words of each verifier, by its place in the chain or in the file. */
  readonly name: RegExp
}

/** Where each record of the task stands in the bundle. */
function recordLines(): readonly Line[] {
  const header = headerOf('records.jsonl')
  const length = Number.parseInt(bundle.toString('latin1', header + 124, header + 135), 8)
  let to = header + 511
  const bodies = bundle.toString('utf8', header + 512, header + 512 + length).split('\n')
  return bodies.slice(0, -1).map((body, index) => {
    const from = to + 1
    to = from + Buffer.byteLength(body)
    const { origin, seq } = JSON.parse(body) as { origin: string; seq: number }
    const name = new RegExp(`^(?:${origin} record ${seq}|records\\.jsonl:${index + 1})( |$)`)
    return { from, to, name }
  })
}

function flipped([at, value]: Flip): Buffer {
  const copy = Buffer.from(bundle)
  copy[at] = (copy[at] as number) ^ value
  return copy
}

const findingsOf = ({ checks = [], findings = [] }: Report): readonly Finding[] => [
  ...findings,
  ...checks.flatMap((check) => check.findings),
]

/** The record, the file or the byte, in either verifier's words. */
const placesOf = ({ file, origin, seq, place }: Finding): readonly string[] =>
  [place, origin && `${origin} record ${seq}`, file].filter((one) => typeof one === 'string')

/** Each finding says where and by which rule; where a record was hit, one of them names this record. */
function isCaught({ at, report }: Pick<Turned, 'at' | 'report'>): boolean {
  const findings = findingsOf(report)
  const hit = recordLines().find(({ from, to }) => at >= from && at < to)
  const isPlaced = findings.every((one) => one.rule !== undefined && placesOf(one).some(Boolean))
  const isNamed =
    hit === undefined || findings.some((one) => placesOf(one).some((place) => hit.name.test(place)))
  return report.verdict === 'tampered' && isPlaced && isNamed
}

// An empty environment and an empty folder: nothing of this checkout can be found from there.
const run = (command: string, ...given: readonly string[]) =>
  new Promise<{ code: number; report: Report }>((resolve) => {
    const args = [...given, '--policy', 'auditor.policy', '--json']
    const child = execFile(command, args, { cwd: folder, env: {} }, (_, output) => {
      resolve({ code: child.exitCode ?? -1, report: JSON.parse(output) as Report })
    })
  })

/** Another Node than the one of this checkout, where the machine has one. */
const OTHER_NODE = ['/usr/bin/node', '/usr/local/bin/node'].find((path) => existsSync(path))
const PYTHON = findPython()

function findPython(): string | undefined {
  try {
    const path = 'import sys; print(sys.executable)'
    return execFileSync('python3', ['-c', path], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

const OUTSIDE = [
  ['node of this checkout', process.execPath, 'baton-verify.mjs'],
  ['another node', OTHER_NODE, 'baton-verify.mjs'],
  ['python3', PYTHON, 'baton_verify.py'],
] as const

describe.each(OUTSIDE)('with %s', (name, command, script) => {
  const what = command === undefined ? `skipped: this machine has no ${name}` : 'finds it valid'
  test.skipIf(command === undefined)(what, async () => {
    const { code, report } = await run(command as string, script, 'task.tar')
    expect([code, report.verdict]).toEqual([0, 'valid'])
  })

  test.skipIf(command === undefined)(
    'names the place and the rule of a flipped byte',
    async () => {
      const flips = chooseFlips()
      const drive = { folder, command: command as string, script }
      const turned = await verifyEach(drive, flips)
      expect(turned.map(({ at }) => at)).toEqual(flips.map(([at]) => at))
      expect(turned.filter((one) => one.code !== 3 || !isCaught(one))).toEqual([])
    },
    120_000,
  )
})

describe('in this process', () => {
  const trust = () => {
    const parsed = parseAuditorPolicy(Buffer.from(policy))
    if (parsed.ok) return parsed.policy
    throw new Error(parsed.message)
  }

  test('a flipped byte anywhere is tampering, and is named', () => {
    const options = { policy: trust(), now: Date.now() / 1_000, thorough: true }
    expect(verifyBundle(bundle, options).verdict).toBe('valid')
    const missed = chooseFlips().filter(
      (flip) => !isCaught({ at: flip[0], report: verifyBundle(flipped(flip), options) }),
    )
    expect(missed).toEqual([])
  }, 60_000)
})

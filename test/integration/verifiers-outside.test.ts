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
import type { BundleFinding } from '@baton/ledger'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture } from './audit-fixture.ts'
import { createSealing, privateKey } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

const VERIFIERS = new URL('../../packages/ledger/verifier/', import.meta.url)
const EVIDENCE = { authorization: 'Bearer evidence-token' }
/** As many as the seed gives; a prime step would only ever meet the same bits. */
const FLIPS = 300
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
    BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token',
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

/** Mulberry32: the same places for the same seed. */
function places(count: number): number[] {
  let state = SEED
  return Array.from({ length: count }, () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bundle.length
  })
}

function flipped(at: number): Buffer {
  const copy = Buffer.from(bundle)
  copy[at] = (copy[at] as number) ^ (1 << (at % 8))
  return copy
}

/** As either of them writes it. */
type Finding = Pick<BundleFinding, 'rule'> &
  Partial<BundleFinding> & { readonly place?: string | null }

interface Report {
  readonly verdict: string
  readonly checks?: readonly { readonly findings: readonly Finding[] }[]
  readonly findings?: readonly Finding[]
}

const findingsOf = ({ checks = [], findings = [] }: Report): readonly Finding[] => [
  ...findings,
  ...checks.flatMap((check) => check.findings),
]

// An empty environment and an empty folder: nothing of this checkout can be found from there.
const run = (command: string, ...given: readonly string[]) =>
  new Promise<{ code: number; report: Report }>((resolve) => {
    const args = [...given, '--policy', 'auditor.policy', '--json']
    const child = execFile(command, args, { cwd: folder, env: {} }, (_, output) => {
      resolve({ code: child.exitCode ?? -1, report: JSON.parse(output) as Report })
    })
  })

/** Runs the verifier itself again and again in one process, as its own entry point would. */
const DRIVERS: Readonly<Record<string, string>> = {
  'baton-verify.mjs': `
    const { readFileSync, writeFileSync } = await import('node:fs')
    const bytes = readFileSync('task.tar')
    const reports = []
    process.argv = [process.argv[0], 'x', 'flipped.tar', '--policy', 'auditor.policy', '--json']
    const write = process.stdout.write.bind(process.stdout)
    for (const at of JSON.parse(readFileSync('places.json', 'utf8'))) {
      const copy = Buffer.from(bytes)
      copy[at] ^= 1 << (at % 8)
      writeFileSync('flipped.tar', copy)
      let text = ''
      process.stdout.write = (part) => ((text += part), true)
      await import(process.cwd() + '/baton-verify.mjs?' + reports.length)
      reports.push({ at, code: process.exitCode, report: JSON.parse(text) })
    }
    process.exitCode = 0
    write(JSON.stringify(reports))`,
  'baton_verify.py': `
import contextlib, io, json, sys
sys.path.insert(0, '.')
import baton_verify
data = open('task.tar', 'rb').read()
sys.argv = ['baton_verify.py', 'flipped.tar', '--policy', 'auditor.policy', '--json']
reports = []
for at in json.load(open('places.json')):
    copy = bytearray(data)
    copy[at] ^= 1 << (at % 8)
    open('flipped.tar', 'wb').write(copy)
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        code = baton_verify.main()
    reports.append({'at': at, 'code': code, 'report': json.loads(text.getvalue())})
print(json.dumps(reports))`,
}

interface Flip {
  readonly at: number
  readonly code: number
  readonly report: Report
}

async function runMany(command: string, script: string): Promise<readonly Flip[]> {
  const driver = `drive-${script}`
  await writeFile(join(folder, driver), DRIVERS[script] as string)
  const options = { cwd: folder, env: {}, maxBuffer: 256 * 1024 * 1024 }
  return new Promise((resolve, reject) => {
    execFile(command, [driver], options, (error, output, words) => {
      if (error !== null) reject(new Error(words))
      else resolve(JSON.parse(output) as readonly Flip[])
    })
  })
}

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

/** Whoever reads it learns where and why: a file or a record, or that it is the container itself. */
const isNamed = ({ rule, file, origin, place }: Finding): boolean =>
  rule === 'CONTAINER' || Boolean(file ?? origin ?? place)

describe.each(OUTSIDE)('with %s', (name, command, script) => {
  const what = command === undefined ? `skipped: this machine has no ${name}` : 'finds it valid'
  test.skipIf(command === undefined)(what, async () => {
    const { code, report } = await run(command as string, script, 'task.tar')
    expect([code, report.verdict]).toEqual([0, 'valid'])
  })

  test.skipIf(command === undefined)(
    'names the place and the rule of a flipped byte',
    async () => {
      await writeFile(join(folder, 'places.json'), JSON.stringify(places(FLIPS)))
      const reports = await runMany(command as string, script)
      expect(reports).toHaveLength(FLIPS)
      const missed = reports.filter(({ code, report }) => {
        return code !== 3 || report.verdict !== 'tampered' || !findingsOf(report).some(isNamed)
      })
      expect(missed).toEqual([])
    },
    240_000,
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
    const missed = places(FLIPS).filter((at) => {
      const report = verifyBundle(flipped(at), options)
      return report.verdict !== 'tampered' || !findingsOf(report).some(isNamed)
    })
    expect(missed).toEqual([])
  }, 60_000)
})

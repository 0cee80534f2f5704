// The single-file verifiers, run as an auditor runs them, agree with the library on every attack.
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { ATTACKS } from '../../fixtures/bundle-attacks.ts'
import {
  changed,
  honest,
  mapped,
  refiled,
  signed,
  withoutSeqs,
} from '../../fixtures/bundle-changes.ts'
import { encodeUtf8 } from '../bytes.ts'
import { evidenceOf, NOW, policyOf, policyText } from '../../fixtures/evidence.ts'
import { TASK } from '../../fixtures/evidence-task.ts'
import { fannedOut, outcomeOf } from '../../fixtures/fanned-out.ts'
import { decidedEvidence, erased, FORGERIES, reviewed } from '../../fixtures/decided-task.ts'
import { deepEnd, END_ATTACKS } from '../../fixtures/task-end-attacks.ts'
import { ABSENT_TASK } from '../../fixtures/task-ends.ts'
import type { MapOptions } from '../../fixtures/task-ends.ts'
import { POLICIES, ROTATION_ATTACKS, SOUND } from '../../fixtures/rotated-evidence.ts'
import { parseAuditorPolicy } from './auditor-policy.ts'
import { FILES } from './format.ts'
import { EXIT_CODES, formatReport } from './format-report.ts'
import { sha256Hex } from '../sha256.ts'
import { writeTar } from './tar.ts'
import { verifyBundle } from './verify.ts'
import { writeBundle } from './write.ts'
import type { BundleParts } from './write.ts'

const verifier = (name: string): string =>
  fileURLToPath(new URL(`../../verifier/${name}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'baton-verify-'))
afterAll(() => rmSync(folder, { recursive: true }))

function put(name: string, content: Uint8Array | string): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

const run = (command: string, ...given: string[]) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const child = execFile(command, given, (_, output) => {
      resolve({ code: child.exitCode ?? -1, output })
    })
  })

const withNode = (...given: string[]) =>
  run(process.execPath, verifier('generated/baton-verify.mjs'), ...given)
const withPython = (...given: string[]) => run('python3', verifier('baton_verify.py'), ...given)

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const verifiers: [string, typeof withNode][] = [['baton-verify.mjs', withNode]]
if (hasPython()) verifiers.push(['baton_verify.py', withPython])

/** The .mjs is made of the very code that `tamper.test.ts` and its neighbours ask of every attack, so here it is asked of some. */
const askedOf = <Case>(verify: typeof withNode, cases: readonly Case[]): readonly Case[] =>
  verify === withPython || process.env['BATON_TEST_LONG'] === '1'
    ? cases
    : cases.filter((_, index) => index % 4 === 0)

const policy = put('policy', policyText())
const modest = put('modest', policyText(['exporter']))
const bundle = put('good.tar', signed(await evidenceOf(honest)))

const inManifest = (from: RegExp, to: string) => () =>
  refiled(FILES.manifest, (json) => Buffer.from(json.toString().replace(from, to)))
const withParts = (change: (parts: BundleParts) => object) => async () => {
  const parts = await evidenceOf(honest)
  return writeBundle({ ...parts, ...change(parts) } as BundleParts)
}

/** JSON of another form, which says nothing else: what one verifier reads, all of them read. */
const FORMS: readonly (readonly [string, () => Promise<Uint8Array>])[] = [
  ['a manifest that counts no records', inManifest(/"records":\d+/, '"records":null')],
  [
    'a manifest with a member that files do not have',
    inManifest(/("sha256":"[0-9a-f]{64}")/, '$1,"size":1'),
  ],
  [
    'a truth in place of a number in the list of an erasure',
    withParts(({ erasures }) => ({
      erasures: erasures.map(({ body, erased }) => ({
        body,
        erased: erased.map(([origin]) => [origin, true, true]),
      })),
    })),
  ],
  [
    'a truth in place of a number in the proof',
    withParts(({ chains }) => ({
      chains: chains.map((chain) => ({
        ...chain,
        leaves: chain.leaves.map(([seq, hash]) => [seq === 1 ? true : seq, hash]),
      })),
    })),
  ],
]

interface Said {
  readonly findings?: readonly { readonly rule: string }[]
  readonly incomplete?: readonly { readonly rule: string }[]
  readonly checks?: readonly { readonly findings: readonly { readonly rule: string }[] }[]
}

/** What a verifier found anything with, in the words of either. */
const rulesOf = ({ findings = [], incomplete = [], checks = [] }: Said): ReadonlySet<string> =>
  new Set(
    [...findings, ...incomplete, ...checks.flatMap((check) => check.findings)].map(
      ({ rule }) => rule,
    ),
  )

const CUT = outcomeOf('left', {
  result: null,
  cut: { bytes: 33, sha256: sha256Hex(encodeUtf8('{"all":[1,2.5,null],"of":"left"}')), href: '/' },
})

describe.each(verifiers)('%s', (_, verify) => {
  test('finds an untouched bundle valid', async () => {
    const { code, output } = await verify(bundle, '--policy', policy, '--json')
    expect([code, JSON.parse(output).verdict]).toEqual([0, 'valid'])
    const plain = await verify(bundle, '--policy', policy)
    expect(plain.output).toContain('VALID')
  })

  test.each([
    ['told whole', {}],
    ['cut to its digest', { left: CUT }],
  ])('finds a join valid that was told of a result %s', async (name, told) => {
    const path = put(`${name}.tar`, signed(await evidenceOf(fannedOut({ told }))))
    const { code, output } = await verify(path, '--policy', policy, '--json')
    expect([code, JSON.parse(output).verdict]).toEqual([0, 'valid'])
  })

  test.each(askedOf(verify, Object.entries(ATTACKS)))(
    '%s',
    async (id, { make, without, verdict = 'tampered' }) => {
      const path = put(`${id}.tar`, await make())
      const its = put(`${id}.policy`, policyText(without))
      const { code, output } = await verify(path, '--policy', its, '--json')
      expect([code, JSON.parse(output).verdict]).toEqual([EXIT_CODES[verdict], verdict])
    },
  )

  test.each(askedOf(verify, END_ATTACKS))('%s is tampering', async (name, make) => {
    const path = put(`${name}.end.tar`, await make())
    const { code, output } = await verify(path, '--policy', modest, '--json')
    const { verdict, end } = JSON.parse(output)
    expect([code, verdict, end]).toEqual([3, 'tampered', null])
  })

  test.each(FORMS)('%s is tampering', async (name, make) => {
    const path = put(`${name}.form.tar`, await make())
    const { code, output } = await verify(path, '--policy', modest, '--json')
    expect([code, JSON.parse(output).verdict]).toEqual([3, 'tampered'])
  })

  test.each([
    ['a release', reviewed],
    ['an erasure', erased],
  ])('finds %s proven that two people signed', async (name, entries) => {
    const path = put(`${name}.tar`, signed(await evidenceOf(decidedEvidence(entries()))))
    const { code, output } = await verify(path, '--policy', policy, '--json')
    expect([code, JSON.parse(output).verdict]).toEqual([0, 'valid'])
    const nobody = put('nobody.policy', policyText(['people']))
    const open = JSON.parse((await verify(path, '--policy', nobody, '--json')).output)
    expect([open.verdict, open.notExcluded]).toEqual([
      'valid',
      [expect.stringMatching(/^decisions by others than the people .*names nobody/)],
    ])
  })

  test.each(askedOf(verify, Object.entries(FORGERIES)))('%s', async (name, { make, verdict }) => {
    const path = put(`${name}.tar`, signed(await evidenceOf(decidedEvidence(make()))))
    const { code, output } = await verify(path, '--policy', policy, '--json')
    const said = JSON.parse(output)
    expect([code, said.verdict, rulesOf(said)]).toEqual([
      EXIT_CODES[verdict],
      verdict,
      new Set(['DECISIONS']),
    ])
  })

  test('a log that commits to the ends of tasks: complete until then, and nothing of it missing', async () => {
    const path = put('complete.tar', signed(await evidenceOf(mapped)))
    for (const its of [policy, modest]) {
      const { code, output } = await verify(path, '--policy', its)
      expect(code).toBe(0)
      expect(output).toMatch(/^VALID(?!.*as far as it goes)/m)
      expect(output).toContain(
        'COMPLETE until 2023-11-14T22:13:20.000012Z: nothing of this task is missing.',
      )
    }
  })

  test('says what it was not given, and what it cannot read', async () => {
    expect((await verify(bundle)).code).toBe(2)
    expect((await verify('--policy', policy)).code).toBe(2)
    expect((await verify(bundle, '--policy', put('bad', 'quorum nobody\n'))).code).toBe(2)
    expect((await verify(join(folder, 'none.tar'), '--policy', policy)).code).toBe(1)
  })

  test.each([
    ['an empty file', ''],
    ['a text', 'manifest.json is what a bundle begins with, and baton-evidence/1 its format\n'],
    ['another tar', writeTar([{ name: 'letter.txt', bytes: encodeUtf8('ustar manifest.json') }])],
    ['its compressed form', gzipSync(readFileSync(bundle))],
  ])('%s is no bundle, and nothing of it was tampered with', async (name, content) => {
    const path = put(`${name}.other`, content)
    const { code, output } = await verify(path, '--policy', policy, '--json')
    expect([code, JSON.parse(output).verdict]).toEqual([2, 'not-a-bundle'])
    const plain = await verify(path, '--policy', policy)
    expect([plain.code, plain.output]).toEqual([2, expect.stringContaining('NOT A BUNDLE')])
  })

  test.each([
    ['without its first byte', (bytes: Buffer) => bytes.subarray(1)],
    ['with a byte before it', (bytes: Buffer) => Buffer.concat([Buffer.from('x'), bytes])],
    ['without its first header', (bytes: Buffer) => bytes.subarray(512)],
    [
      'with another first name',
      (bytes: Buffer) => Buffer.concat([Buffer.from('n'), bytes.subarray(1)]),
    ],
    ['cut off within its first header', (bytes: Buffer) => bytes.subarray(0, 300)],
  ])('a bundle %s is a bundle, and tampered with', async (name, change) => {
    const path = put(`${name}.tar`, change(readFileSync(bundle)))
    const { code, output } = await verify(path, '--policy', policy, '--json')
    expect([code, JSON.parse(output).verdict]).toEqual([3, 'tampered'])
  })
})

// The other single file is made of the very code that `rotated.test.ts` asks.
describe.runIf(hasPython())('a log whose key was changed, in Python (needs python3)', () => {
  test.each(ROTATION_ATTACKS)('%s: tampering', async (name, its, make) => {
    const path = put('rotated.tar', await make())
    const { code, output } = await withPython(path, '--policy', put('its', its), '--json')
    const { verdict, end } = JSON.parse(output)
    expect([name, code, verdict, end]).toEqual([name, 3, 'tampered', null])
  })

  test.each(SOUND)('is followed by %s', async (_, its, make) => {
    const bytes = writeBundle(await make())
    const parsed = parseAuditorPolicy(encodeUtf8(its))
    if (!parsed.ok) throw new Error(parsed.message)
    const report = verifyBundle(bytes, { policy: parsed.policy, now: NOW, thorough: true })
    const path = put('handed-over.tar', bytes)
    const { code, output } = await withPython(path, '--policy', put('its', its), '--json')
    const { end, notExcluded } = JSON.parse(output)
    expect([code, end, notExcluded]).toEqual([0, report.end, report.notExcluded])
  })

  test.each(POLICIES)('a policy with %s is no policy', async (_, text) => {
    expect((await withPython(bundle, '--policy', put('wrong', text))).code).toBe(2)
  })
})

describe('how far the end of a task is proven', () => {
  const deep = async () => writeBundle(await deepEnd(24))
  const mappedTo =
    (map: MapOptions, taskId: string | null = TASK) =>
    async () =>
      signed(await evidenceOf({ ...mapped, taskId, map }))
  const rows: readonly (readonly [string, () => Promise<Uint8Array>, number, boolean])[] = [
    ['everything', mappedTo({}), 0, true],
    ['records that came later', mappedTo({ size: 8 }), 0, true],
    ['a map older than the task', mappedTo({ size: 1 }), 0, true],
    ['several tasks, and one that is not there', mappedTo({ asked: [ABSENT_TASK] }, null), 0, true],
    ['the deepest map', deep, 0, true],
    ['version 1', async () => signed(await evidenceOf(honest)), 0, false],
    [
      'no witness',
      async () => signed(await evidenceOf({ ...mapped, isCosigned: false })),
      4,
      false,
    ],
  ]

  test.each(rows)('%s: the verifiers say the same', async (name, make, expected, isProven) => {
    const bytes = await make()
    const path = put(`${name}.proven.tar`, bytes)
    const report = verifyBundle(bytes, { policy: policyOf(['exporter']), now: NOW, thorough: true })
    expect(report.end !== null).toBe(isProven)
    for (const [, verify] of verifiers) {
      const { code, output } = await verify(path, '--policy', modest, '--json')
      const { end, notExcluded } = JSON.parse(output)
      expect(code).toBe(expected)
      expect([end, notExcluded]).toEqual([report.end, report.notExcluded])
      const plain = (await verify(path, '--policy', modest)).output
      const said = (text: string) => text.match(/^(?:COMPLETE|ABSENT|LATER) ?.*$/gm)
      expect(said(plain)).toEqual(said(formatReport(report)))
    }
  })
})

describe('what a policy or a bundle gives nothing to check with', () => {
  const rows: readonly (readonly [string, Parameters<typeof policyText>[0], RegExp[]])[] = [
    ['nothing is open with every line', [], []],
    ['an exporter', ['exporter'], [/^records of the task after the last one here/]],
    ['a witness', ['witness', 'quorum'], [/^a different history shown to others/]],
    ['an append service', ['batch'], [/^records that whoever seals made up/]],
    [
      'none of them',
      ['exporter', 'witness', 'quorum', 'batch'],
      [/^records of the task after/, /^a different history/, /^records that whoever seals/],
    ],
  ]

  test.each(rows)(
    '%s: both verifiers say what they cannot exclude',
    async (name, without, open) => {
      const its = put(`${name}.policy`, policyText(without))
      const said: unknown[] = []
      for (const [, verify] of verifiers) {
        const { code, output } = await verify(bundle, '--policy', its, '--json')
        expect(code).toBe(0)
        said.push(JSON.parse(output).notExcluded)
        const plain = (await verify(bundle, '--policy', its)).output
        expect(plain.match(/^NOT EXCLUDED: /gm) ?? []).toHaveLength(open.length)
      }
      for (const one of said) {
        expect(one).toEqual(open.map((pattern) => expect.stringMatching(pattern)))
        expect(one).toEqual(said[0])
      }
    },
  )

  test('a bundle cut to its first handoff is not called whole, and an exporter finds it', async () => {
    const path = put('cut.tar', await changed(withoutSeqs([4, 6, 7, 8, 10])))
    const modest = put('modest.policy', policyText(['exporter']))
    for (const [, verify] of verifiers) {
      const { code, output } = await verify(path, '--policy', modest)
      expect(code).toBe(0)
      expect(output).toContain('VALID as far as it goes')
      expect(output).not.toContain('nothing was changed, added or taken away')
      expect(output).toContain('NOT EXCLUDED: records of the task after the last one here')
      expect((await verify(path, '--policy', policy)).code).toBe(3)
    }
  })

  test('a bundle without a receipt says so', async () => {
    const path = put('unreceipted.tar', signed({ ...(await evidenceOf(honest)), receipts: [] }))
    for (const [, verify] of verifiers) {
      const { output } = await verify(path, '--policy', policy, '--json')
      expect(JSON.parse(output).notExcluded).toEqual([
        expect.stringContaining('the bundle holds no receipt'),
      ])
    }
  })
})

test('the lines for people cannot steer a terminal', () => {
  const bytes = readFileSync(bundle)
  bytes.write('\u001b[2J\n', 0)
  const report = verifyBundle(bytes, { policy: policyOf(), now: NOW, thorough: true })
  const text = formatReport(report)
  expect(
    report.checks.flatMap(({ findings }) => findings.map(({ file }) => file)).join(),
  ).toContain('\u001b')
  expect(text.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f]/)
  expect(text).toContain('TAMPERED')
})

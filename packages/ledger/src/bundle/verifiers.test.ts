// The single-file verifiers, run as an auditor runs them, agree with the library on every attack.
import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { ATTACKS } from '../../fixtures/bundle-attacks.ts'
import { honest, signed } from '../../fixtures/bundle-changes.ts'
import { evidenceOf, NOW, policyOf, policyText } from '../../fixtures/evidence.ts'
import { EXIT_CODES, formatReport } from './format-report.ts'
import { verifyBundle } from './verify.ts'

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

const policy = put('policy', policyText())
const bundle = put('good.tar', signed(await evidenceOf(honest)))

describe.each(verifiers)('%s', (_, verify) => {
  test('finds an untouched bundle valid', async () => {
    const { code, output } = await verify(bundle, '--policy', policy, '--json')
    expect([code, JSON.parse(output).verdict]).toEqual([0, 'valid'])
    const plain = await verify(bundle, '--policy', policy)
    expect(plain.output).toContain('VALID')
  })

  test.each(Object.entries(ATTACKS))('%s', async (id, { make, without, verdict = 'tampered' }) => {
    const path = put(`${id}.tar`, await make())
    const its = put(`${id}.policy`, policyText(without))
    const { code, output } = await verify(path, '--policy', its, '--json')
    expect([code, JSON.parse(output).verdict]).toEqual([EXIT_CODES[verdict], verdict])
  })

  test('says what it was not given, and what it cannot read', async () => {
    expect((await verify(bundle)).code).toBe(2)
    expect((await verify('--policy', policy)).code).toBe(2)
    expect((await verify(bundle, '--policy', put('bad', 'quorum nobody\n'))).code).toBe(2)
    expect((await verify(join(folder, 'none.tar'), '--policy', policy)).code).toBe(1)
    expect((await verify(put('empty.tar', ''), '--policy', policy)).code).toBe(3)
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

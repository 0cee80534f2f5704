// What each verifier says of a bundle, offline: the library, and the two single files as an auditor runs them, in an empty folder.
import { execFile, execFileSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAuditorPolicy, verifyBundle } from '@baton/ledger'
import type { BundleReport } from '@baton/ledger'
import type { Finding, Report } from './verifier-drivers.ts'

const fileOf = (name: string): string =>
  fileURLToPath(new URL(`../../packages/ledger/verifier/${name}`, import.meta.url))

const RUN_MAX_MS = 30_000

const COMMANDS = {
  'the library': undefined,
  'baton-verify.mjs': [process.execPath, fileOf('generated/baton-verify.mjs')],
  'baton_verify.py': ['python3', fileOf('baton_verify.py')],
} as const

export type VerifierName = keyof typeof COMMANDS

/** Those that this machine can run. */
export const VERIFIERS = (Object.keys(COMMANDS) as VerifierName[]).filter(
  (name) => name !== 'baton_verify.py' || hasPython(),
)

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore', timeout: RUN_MAX_MS })
    return true
  } catch {
    return false
  }
}

export interface OfflineVerdict {
  readonly verdict: string
  /** The checks that found anything, each once, with the first thing that they say. */
  readonly found: Readonly<Record<string, string>>
  readonly notExcluded: readonly string[]
}

interface Said extends Report {
  readonly incomplete?: readonly (Finding & { readonly message: string })[]
  readonly notExcluded: readonly string[]
}

export async function verdictOf(
  verifier: VerifierName,
  bundle: Uint8Array,
  policy: string,
): Promise<OfflineVerdict> {
  const command = COMMANDS[verifier]
  return told(
    command === undefined ? inProcess(bundle, policy) : await run(command, bundle, policy),
  )
}

function inProcess(bundle: Uint8Array, policy: string): BundleReport {
  const parsed = parseAuditorPolicy(Buffer.from(policy))
  if (!parsed.ok) throw new Error(`line ${parsed.line}: ${parsed.message}`)
  return verifyBundle(bundle, { policy: parsed.policy, now: Date.now() / 1_000, thorough: true })
}

async function run(
  [command, script]: readonly [string, string],
  bundle: Uint8Array,
  policy: string,
): Promise<Said> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-offline-'))
  try {
    await writeFile(join(folder, 'task.tar'), bundle)
    await writeFile(join(folder, 'policy'), policy)
    const given = [script, 'task.tar', '--policy', 'policy', '--json']
    return await new Promise<Said>((resolve, reject) => {
      const options = { cwd: folder, timeout: RUN_MAX_MS, maxBuffer: 64 * 1024 * 1024 }
      execFile(command, given, options, (error, output) => {
        if (output === '') reject(error ?? new Error('it said nothing'))
        else resolve(JSON.parse(output) as Said)
      })
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}

function told({ verdict, notExcluded, ...said }: Said | BundleReport): OfflineVerdict {
  const { findings = [], incomplete = [], checks = [] } = said as Partial<Said>
  const all = [...findings, ...incomplete, ...checks.flatMap((check) => check.findings)]
  const found: Record<string, string> = {}
  for (const { rule, message = '' } of all) found[rule] ??= message
  return { verdict, found, notExcluded }
}

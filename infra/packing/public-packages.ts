// What of this checkout is for programs outside of it, and what each package carries. The rest is decided here for all of them.

/** A package that npm is given. Its folder has its `package.json`, `README.md` and `CHANGELOG.md`. */
export interface PublicPackage {
  readonly name: `@baton/${string}`
  readonly folder: string
  readonly description: string
  readonly keywords: readonly string[]
  /** Those of the manifest's `exports` that programs may import. */
  readonly entries: readonly string[]
  /** Modules that nothing imports, such as threads, by the name that they are loaded by. */
  readonly threads?: Readonly<Record<string, string>>
  /** Commands, by the name that is typed: a file of `files`. */
  readonly bin?: Readonly<Record<string, string>>
  /** Carried byte for byte: its place in the package, and that in this checkout. */
  readonly files?: Readonly<Record<string, string>>
  /** Public packages that it asks for instead of carrying their code. */
  readonly asksFor?: readonly string[]
  /** Whether it runs where there is no Node: browsers, Deno, Bun. */
  readonly runsAnywhere?: boolean
}

/** The oldest Node that all of it is tried on. */
export const ENGINES = { node: '>=22.19' }
export const TARGET = 'node22'

/** A library may be newer where whoever installs it has a newer one of the same major version; it is tried with what this checkout has. */
export const rangeOf = (version: string): string => `^${version}`

const LEDGER = 'packages/ledger/verifier'

export const PUBLIC_PACKAGES: readonly PublicPackage[] = [
  {
    name: '@baton/sdk',
    folder: 'packages/sdk',
    description: 'Define agents, host them and send handoffs with Baton.',
    keywords: ['agents', 'handoff', 'durable', 'outbox', 'audit'],
    entries: ['.', './sw4rm'],
    threads: { 'large-work-thread': 'packages/engine/src/large-work-thread.ts' },
  },
  {
    name: '@baton/protocol',
    folder: 'packages/protocol',
    description: 'The handoff message of Baton: build, sign, parse, validate and judge it. No I/O.',
    keywords: ['agents', 'handoff', 'json-schema', 'signature'],
    entries: [
      '.',
      './dialects/handoff-v01',
      './dialects/handoffs-api',
      './dialects/session',
      './dialects/sw4rm',
    ],
  },
  {
    name: '@baton/ledger',
    folder: 'packages/ledger',
    description:
      'The audit log of Baton as arithmetic: records, hashes, trees, signed notes, proofs and bundles. No dependency.',
    keywords: ['audit', 'transparency-log', 'merkle-tree', 'tlog', 'signed-note'],
    entries: ['.'],
    files: { 'FORMAT.md': `${LEDGER}/FORMAT.md` },
  },
  {
    name: '@baton/verifier',
    folder: 'packages/verifier',
    description:
      'Verifies an evidence bundle of Baton offline, against a policy of your own. No dependency.',
    keywords: ['audit', 'verify', 'evidence', 'transparency-log'],
    entries: ['.'],
    bin: { 'baton-verify': 'bin/baton-verify.mjs' },
    files: {
      'bin/baton-verify.mjs': `${LEDGER}/generated/baton-verify.mjs`,
      'FORMAT.md': `${LEDGER}/FORMAT.md`,
      'example/evidence.tar': 'packages/verifier/example/evidence.tar',
      'example/auditor.policy': 'packages/verifier/example/auditor.policy',
    },
  },
]

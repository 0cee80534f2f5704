// Another version of Baton beside this one: a checkout of a commit, set up as its own files say, whose code migrates and serves.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AuditUrls } from '@baton/audit'
import { PASSWORDS, STORE_PASSWORDS } from '@baton/testkit'
import type { PostgresPair } from '@baton/testkit'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SET_UP_MS = 600_000

interface Pairs {
  readonly store: PostgresPair
  readonly audit: PostgresPair
}

interface DatabaseNames {
  readonly store: string
  readonly audit: string
  readonly vault: string
}

export interface Checkout {
  readonly root: string
  /** Makes the databases as that version leaves them. It may know of one server only, so it is told the primary. */
  migrate(pairs: Pairs, databases: DatabaseNames): Promise<AuditUrls>
  discard(): void
}

/** What the older version runs: its own functions, on what it is told in JSON. */
const MIGRATE = `import { migrateAudit } from '@baton/audit'
import { migrateStore } from '@baton/store'
const { store, audit } = JSON.parse(process.argv[2] ?? '')
await migrateStore(store)
const { urls } = await migrateAudit(audit.adminUrl, audit.options)
process.stdout.write(JSON.stringify(urls))
`

export function checkOut(commit: string): Checkout {
  const root = join(ROOT, '.baton', 'topology', commit)
  rmSync(root, { recursive: true, force: true })
  mkdirSync(join(root, '..'), { recursive: true })
  execFileSync('git', ['clone', '--quiet', '--shared', ROOT, root])
  execFileSync('git', ['checkout', '--quiet', commit], { cwd: root })
  execFileSync(process.execPath, ['infra/boot.mjs', 'baton', '--help'], {
    cwd: root,
    timeout: SET_UP_MS,
    stdio: 'ignore',
  })
  const script = join(root, 'test', 'migrate-for-topology.ts')
  writeFileSync(script, MIGRATE)
  return {
    root,
    async migrate({ store, audit }, names) {
      const { app: _app, gateway: _gateway, delivery: _delivery, ...passwords } = PASSWORDS
      const told = {
        store: {
          adminUrl: store.primary.superuserUrl,
          database: names.store,
          ...STORE_PASSWORDS,
        },
        audit: {
          adminUrl: audit.primary.superuserUrl,
          options: {
            passwords,
            databases: { audit: names.audit, vault: names.vault },
            log: { shards: 4 },
          },
        },
      }
      const urls = execFileSync(process.execPath, [script, JSON.stringify(told)], {
        cwd: root,
        encoding: 'utf8',
        timeout: SET_UP_MS,
      })
      return JSON.parse(urls) as AuditUrls
    },
    discard: () => rmSync(root, { recursive: true, force: true }),
  }
}

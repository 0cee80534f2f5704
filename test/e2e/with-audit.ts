// The audit database of a command line's instance, as its superuser: for looking and for tampering.
import { join } from 'node:path'
import { createPool } from '@baton/audit'
import { startPostgres } from '@baton/embedded'

export async function withAudit<Result>(
  home: string,
  work: (pool: ReturnType<typeof createPool>) => Promise<Result>,
): Promise<Result> {
  const quiet = { info: () => undefined, warn: () => undefined }
  const server = await startPostgres({ dataDir: join(home, 'pg'), logger: quiet })
  const url = new URL(server.superuserUrl)
  url.pathname = '/baton_audit'
  const pool = createPool({ url: url.href, applicationName: 'baton-test' })
  try {
    return await work(pool)
  } finally {
    await pool.end()
    await server.stop()
  }
}

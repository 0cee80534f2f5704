// Which certificates end soon, among those that this command shows and those of the instance.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeCertificate } from '@baton/embedded'
import { authorityLife, listCertificates } from '../certificates/certificate-folder.ts'
import type { Context } from '../context.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { failed, passed, unknown } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'

const DAY_MS = 86_400_000
/** The alert about what expires fires then too. */
const SOON_MS = 14 * DAY_MS
const RULE = 'certificates count for two more weeks'

interface Ending {
  readonly name: string
  readonly until: Date
}

/** Nothing where there are none. What has ended is broken, what ends soon is told. */
export async function diagnoseCertificates(context: Context): Promise<readonly Diagnosis[]> {
  const nowMs = Date.now()
  const all = [...(await ownCertificate(context)), ...(await inHome(context))]
  if (all.length === 0) return []
  const ending = all.filter(({ until }) => until.getTime() - nowMs < SOON_MS)
  if (ending.length === 0) return [passed('certificates', RULE, `${all.length} of them`)]
  const ids = ending.map(
    ({ name, until }) => `${name}: until ${until.toISOString().slice(0, 16)} UTC`,
  )
  const text = `${ending.length} of ${all.length} end sooner, or have ended; ${nextStep('certs renew')}`
  const hasEnded = ending.some(({ until }) => until.getTime() <= nowMs)
  return [
    hasEnded
      ? failed('certificates', RULE, { text, ids })
      : { ...unknown('certificates', RULE, text), ids },
  ]
}

async function ownCertificate({ settings }: Context): Promise<readonly Ending[]> {
  const path = settings.BATON_TLS_CERT_FILE
  if (path === undefined) return []
  return [{ name: path, until: describeCertificate(await readFile(path, 'utf8')).until }]
}

/** Those of an instance on TLS, and those that `certs` made there. */
async function inHome({ home }: Context): Promise<readonly Ending[]> {
  const found: Ending[] = []
  for (const folder of [join(home, 'tls'), join(home, 'certs')]) {
    const authority = await authorityLife({ folder })
    if (authority !== null) found.push({ name: join(folder, 'ca.crt'), until: authority.until })
    for (const { certificateFile, until } of await listCertificates({ folder }))
      found.push({ name: certificateFile, until })
  }
  return found
}

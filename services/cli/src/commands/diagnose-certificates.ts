// Which certificates end soon, among those that this command shows and those of the instance.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
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
  /** What gives it a longer life. */
  readonly remedy: string
}

/** Nothing where there are none. What has ended is broken, what ends soon is told. */
export async function diagnoseCertificates(context: Context): Promise<readonly Diagnosis[]> {
  const nowMs = Date.now()
  const all = await everyOne(context, nowMs)
  if (all.length === 0) return []
  const ending = all.filter(({ until }) => isSoon(until, nowMs))
  if (ending.length === 0) return [passed('certificates', RULE, `${all.length} of them`)]
  const ids = ending.map(
    ({ name, until }) => `${name}: until ${until.toISOString().slice(0, 16)} UTC`,
  )
  const remedies = [...new Set(ending.map(({ remedy }) => remedy))]
  const text = `${ending.length} of ${all.length} end sooner, or have ended; ${remedies.join('; ')}`
  const hasEnded = ending.some(({ until }) => until.getTime() <= nowMs)
  return [
    hasEnded
      ? failed('certificates', RULE, { text, ids })
      : { ...unknown('certificates', RULE, text), ids },
  ]
}

const isSoon = (until: Date, nowMs: number): boolean => until.getTime() - nowMs < SOON_MS

/** That of this command may be one of the instance, which says better how it is renewed. */
async function everyOne(context: Context, nowMs: number): Promise<readonly Ending[]> {
  const kept = [
    ...(await inFolder(context.home, 'tls', nowMs)),
    ...(await inFolder(context.home, 'certs', nowMs)),
  ]
  const own = await ownCertificate(context)
  return [...own.filter(({ name }) => !kept.some((one) => one.name === name)), ...kept]
}

async function ownCertificate({ settings }: Context): Promise<readonly Ending[]> {
  const path = settings.BATON_TLS_CERT_FILE
  if (path === undefined) return []
  const { until } = describeCertificate(await readFile(path, 'utf8'))
  const remedy = `have whoever made ${path} renew it, or ${nextStep('certs renew --dir <folder>')} where \`certs new --dir\` did`
  return [{ name: resolve(path), until, remedy }]
}

/** Those of an instance on TLS, or those that `certs` made there: nothing outlives the authority that signed it. */
async function inFolder(
  home: string,
  name: 'tls' | 'certs',
  nowMs: number,
): Promise<readonly Ending[]> {
  const folder = resolve(home, name)
  const authority = await authorityLife({ folder })
  const isAuthorityDue = authority !== null && isSoon(authority.until, nowMs)
  const remedy = isAuthorityDue ? ANOTHER_AUTHORITY[name] : nextStep(renewal(folder, name))
  const kept = (await listCertificates({ folder })).map(({ certificateFile, until }) => ({
    name: certificateFile,
    until,
    remedy,
  }))
  if (authority === null) return kept
  return [{ name: join(folder, 'ca.crt'), until: authority.until, remedy }, ...kept]
}

const renewal = (folder: string, name: 'tls' | 'certs'): string =>
  name === 'certs' ? 'certs renew' : `certs renew --dir ${folder}`

const ANOTHER_AUTHORITY = {
  tls: 'the authority ends: stop what runs, then `npm run up -- --once --no-tls` and `npm run up -- --once --tls` make another',
  certs: 'the authority ends: make another (infra/tls.md, “Another authority”)',
}

// `certs`: certificates for installations without an authority of their own, each with how long it still counts.
import { join, resolve } from 'node:path'
import { permanent } from '@baton/runtime'
import { authorityFile } from '../certificates/certificate-files.ts'
import type { CertificateFolder } from '../certificates/certificate-files.ts'
import {
  addCertificates,
  authorityLife,
  findDue,
  isDue,
  listCertificates,
  renewCertificates,
} from '../certificates/certificate-folder.ts'
import type { KeptCertificate, Wanted } from '../certificates/certificate-folder.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { withTlsLock } from '../instance/instance-tls.ts'
import { isOnTls } from '../instance/tls-files.ts'
import { counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { renderTable } from '../terminal/table.ts'

export interface Place {
  readonly dir?: string
  readonly authority?: string
}

export interface CertsWish extends Place {
  /** `host` for all of them, `name=host` for one. */
  readonly host: readonly string[]
  readonly days: number
}

/** Every process of an installation, and the servers that it connects to. */
const USUAL_NAMES = [
  'gateway',
  'relay',
  'receiver',
  'sender',
  'auditor',
  'sealer',
  'archiver',
  'witness',
  'postgres',
  'redis',
  'operator',
]
/** Where nothing else is said a server is reached on its own machine. */
const OWN_MACHINE = ['localhost', '127.0.0.1', '::1']

/** Of all usual names where none is given. Refuses to overwrite. */
export async function certsNew(
  context: Context,
  names: readonly string[],
  wish: CertsWish,
): Promise<ExitCode> {
  const { output } = context
  const place = placeOf(context, wish)
  const certified = names.length === 0 ? USUAL_NAMES : [...new Set(names)]
  const made = await addCertificates(place, hostsOf(certified, wish.host), wish.days)
  await print(context, place, made)
  output.words(`The authority’s key is in ${place.authorityFolder}.`)
  output.words('No process needs it: keep it elsewhere, and bring it back to renew.')
  output.words(`Each process gets its own two files and the authority:\n${settingsOf(place, made)}`)
  output.next(nextStep(`certs ls${sameFolder(wish)}`))
  return EXIT.fine
}

function settingsOf(place: CertificateFolder, made: readonly KeptCertificate[]): string {
  const [first] = made
  return [
    `  BATON_TLS_CA_FILE=${authorityFile(place)}`,
    `  BATON_TLS_CERT_FILE=${first?.certificateFile ?? ''}`,
    `  BATON_TLS_KEY_FILE=${first?.keyFile ?? ''}`,
  ].join('\n')
}

/** Those of which less than a third is left or whose key is another one’s, or those that are named, whatever is left. */
export async function certsRenew(
  context: Context,
  names: readonly string[],
  wish: Place & { readonly days: number },
): Promise<ExitCode> {
  const { output } = context
  const place = placeOf(context, wish)
  const due = await alone(context, place, () => renew(place, names, wish.days))
  const renewed = new Set(due.map(({ name }) => name))
  await print(
    context,
    place,
    (await listCertificates(place)).filter(({ name }) => renewed.has(name)),
  )
  output.words(
    due.length === 0
      ? 'Nothing to renew: each has more than a third of its life left. Name those to renew all the same.'
      : `${counted(due.length, 'certificate')} renewed. ${whoFollows(context, place)}`,
  )
  output.next(nextStep(`certs ls${sameFolder(wish)}`))
  return EXIT.fine
}

/** Answers those that have another certificate now, as they were before. */
async function renew(
  place: CertificateFolder,
  names: readonly string[],
  days: number,
): Promise<readonly KeptCertificate[]> {
  const kept = await listCertificates(place)
  const missing = names.filter((name) => !kept.some((one) => one.name === name))
  if (kept.length === 0 || missing.length > 0) throw noneThere(place, missing)
  const due =
    names.length === 0
      ? await findDue(kept, Date.now())
      : kept.filter(({ name }) => names.includes(name))
  await renewCertificates(place, due, days)
  return due
}

/** Whatever starts in an instance renews its certificates too, and never while this does. */
const alone = <Answer>(
  { home }: Context,
  { folder }: CertificateFolder,
  work: () => Promise<Answer>,
): Promise<Answer> => (folder === resolve(home, 'tls') ? withTlsLock(home, work) : work())

/** Exit 5 where there are none. */
export async function certsLs(context: Context, where: Place): Promise<ExitCode> {
  const place = placeOf(context, where)
  const kept = await listCertificates(place)
  await print(context, place, kept)
  if (kept.length === 0) context.output.words(`There are no certificates in ${place.folder}.`)
  const isOfInstance = kept.length === 0 && where.dir === undefined && isOnTls(context.home)
  context.output.next(
    nextStep(
      isOfInstance
        ? `certs ls --dir ${join(context.home, 'tls')}`
        : `${kept.length === 0 ? 'certs new --host <name>' : 'certs renew'}${sameFolder(where)}`,
    ),
  )
  return kept.length === 0 ? EXIT.notFound : EXIT.fine
}

async function print(
  { output }: Context,
  place: CertificateFolder,
  kept: readonly KeptCertificate[],
): Promise<void> {
  const nowMs = Date.now()
  if (output.json) {
    const certificates = kept.map(({ from, until, ...one }) => ({
      ...one,
      from: from.toISOString(),
      until: until.toISOString(),
      daysLeft: daysLeft(until, nowMs),
    }))
    const authority = await authorityLife(place)
    const ends = authority && { file: authorityFile(place), until: authority.until.toISOString() }
    output.data(JSON.stringify({ authority: ends, certificates }))
    return
  }
  if (kept.length > 0) output.data(table(kept, nowMs))
  const authority = await authorityLife(place)
  if (authority !== null)
    output.words(`The authority counts until ${authority.until.toISOString().slice(0, 10)}.`)
}

const table = (kept: readonly KeptCertificate[], nowMs: number): string =>
  renderTable(
    ['NAME', 'HOSTS', 'ENDS (UTC)', 'LEFT', 'FILE'].map((title) => ({ title })),
    kept.map(({ name, hosts, from, until, certificateFile }) => [
      name,
      hosts.join(' '),
      until.toISOString().slice(0, 16).replace('T', ' '),
      leftOf({ from, until }, nowMs),
      certificateFile,
    ]),
  )

function leftOf(life: Pick<KeptCertificate, 'from' | 'until'>, nowMs: number): string {
  if (life.until.getTime() <= nowMs) return 'ended'
  const left = counted(daysLeft(life.until, nowMs), 'day')
  return isDue(life, nowMs) ? `${left}, renew` : left
}

const DAY_MS = 86_400_000
const daysLeft = (until: Date, nowMs: number): number =>
  Math.round((until.getTime() - nowMs) / DAY_MS)

/** `certs` of the home, where nothing else is named: nobody else may look into it. */
function placeOf({ home }: Context, { dir, authority }: Place): CertificateFolder {
  const folder = resolve(dir ?? join(home, 'certs'))
  return { folder, authorityFolder: resolve(authority ?? join(folder, 'authority')) }
}

const whoFollows = ({ home }: Context, { folder }: CertificateFolder): string =>
  folder === resolve(home, 'tls')
    ? 'Everything of the instance follows within seconds, its Postgres and Redis too.'
    : 'Processes of Baton follow within seconds; Postgres and Redis have to be told to load theirs.'

/** The next command finds what this one was about. */
const sameFolder = ({ dir, authority }: Place): string =>
  `${dir === undefined ? '' : ` --dir ${dir}`}${authority === undefined ? '' : ` --authority ${authority}`}`

function hostsOf(names: readonly string[], hosts: readonly string[]): readonly Wanted[] {
  const named = hosts.map((text) => ({ for: /^[^=]+(?==)/.exec(text)?.[0], host: hostOf(text) }))
  const stray = named.find(({ for: name }) => name !== undefined && !names.includes(name))
  if (stray !== undefined) {
    throw permanent('BATON_USAGE', `--host ${stray.for}=${stray.host} is for none of the names`, {
      fix: `They are ${names.join(', ')}.`,
    })
  }
  return names.map((name) => {
    const own = named.filter((one) => one.for === undefined || one.for === name)
    return { name, hosts: own.length === 0 ? OWN_MACHINE : own.map(({ host }) => host) }
  })
}

const hostOf = (text: string): string => text.slice(text.indexOf('=') + 1)

const noneThere = ({ folder }: CertificateFolder, missing: readonly string[]) =>
  permanent(
    'BATON_CERTIFICATE_MISSING',
    missing.length === 0
      ? `there are no certificates in ${folder}`
      : `${folder} has no certificate for ${missing.join(', ')}`,
    {
      fix: 'Make it with `certs new`, or name the folder with --dir: an instance on TLS keeps its own in `tls`.',
    },
  )

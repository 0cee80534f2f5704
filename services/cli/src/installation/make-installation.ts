// Makes an installation: databases and roles, keys, certificates, and what each process is told. May be run again:
// secrets, keys and certificates that are there stay, and files are written anew from them.
import { generateKeyPairSync } from 'node:crypto'
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { openTenant } from '@baton/engine'
import { createApiKey, scopesOfRoles } from '@baton/gateway'
import { parsePeople, personEntry, readDecisionSigner } from '@baton/ledger'
import { isLoopback, permanent, serversOfUrl } from '@baton/runtime'
import { createPool } from '@baton/store'
import { authorityFile, certificateFiles } from '../certificates/certificate-files.ts'
import {
  addCertificates,
  CERTIFICATE_DAYS,
  listCertificates,
} from '../certificates/certificate-folder.ts'
import { openLog } from '../context.ts'
import { moduleAt, ROOT } from '../root.ts'
import type { Context } from '../context.ts'
import {
  administratorOf,
  migrateDatabases,
  openDatabases,
  operationalAdminUrl,
} from '../instance/databases.ts'
import type { Databases } from '../instance/databases.ts'
import { sealFiles } from '../instance/seal-files.ts'
import { prepareSeals } from '../instance/seals.ts'
import { ensureSecrets, withoutPeople } from '../instance/secrets.ts'
import { apiKeyEntry } from '../instance/service-settings.ts'
import type { Plan, PlannedPerson, ProcessName } from './plan.ts'
import {
  addressesOf,
  adminSettings,
  callerSettings,
  operatorSettings,
  POLICY,
  processSettings,
  readyUrls,
} from './process-settings.ts'
import type { Caller, Known, Told } from './process-settings.ts'
import { readInstallationRecord, recordFile } from './read-installation.ts'
import type { InstallationRecord } from './read-installation.ts'
import { formatSettings, readSettingsFile, SETTINGS_FILE, writePrivate } from './settings-file.ts'
import { systemdFiles } from './systemd-units.ts'

export interface Made {
  /** Migrations that were applied now. */
  readonly migrations: readonly string[]
  readonly settings: Readonly<Record<ProcessName, Told>>
  /** Of whom a private key was made here, which is to be handed over. */
  readonly keysMadeOf: readonly string[]
  /** Verifier keys: of the log, for a witness elsewhere, and what it is called. */
  readonly logKey: string
}

/** The context is one of the folder, with the addresses of the plan. */
export async function makeInstallation(context: Context, plan: Plan): Promise<Made> {
  const { folder } = plan
  const isFirst = readInstallationRecord(folder) === undefined
  await withoutPeople(folder)
  const { secrets: keys } = await ensureSecrets(folder, {})
  const settings = { ...context.settings, ...keys.roles, BATON_APP_LOGIN: false }
  const own = { ...context, settings }
  const databases = await openDatabases(own, openLog(folder))
  try {
    const migrations = await migrateDatabases(databases, own)
    context.output.step('passed', 'databases', countedMigrations(databases.description, migrations))
    await openTenants(own, { plan, databases })
    const tls = await prepareCertificates(plan)
    const before = readSettingsFile(fileOf(plan, 'admin')) ?? {}
    const people = ensurePeople(plan, before)
    const entries = people.map(({ entry }) => entry).join(',')
    const log = await prepareSeals({
      home: folder,
      databases,
      witnessUrl: addressesOf(plan)('witness'),
      trustedKeys: undefined,
      people: parsePeople(entries),
      otherWitness: plan.otherWitness,
    })
    const callers = ensureCallers(plan, before)
    const urls = urlsOf(databases, plan)
    const known = { plan, keys, urls, log, callers, people: entries, tls }
    await writeFolders(known, people)
    await makeStateFolders(plan)
    if (isFirst) await beginWitness(plan)
    return {
      migrations,
      settings: processSettings(known),
      keysMadeOf: people.flatMap(({ name, privateKey }) => (privateKey ? [name] : [])),
      logKey: log.verifierKey,
    }
  } finally {
    await databases.stop()
  }
}

const countedMigrations = (description: string, applied: readonly string[]): string =>
  applied.length === 0
    ? `${description}, everything was applied before`
    : `${description}, ${applied.length} migrations applied`

async function openTenants(
  context: Context,
  { plan, databases }: { readonly plan: Plan; readonly databases: Databases },
): Promise<void> {
  if (plan.tenants.length === 0) return
  const url = operationalAdminUrl(databases, context.settings)
  const admin = createPool({ url, applicationName: 'baton-cli', connectionsMax: 1 })
  try {
    for (const tenant of plan.tenants) await openTenant(admin, administratorOf(context), tenant)
  } finally {
    await admin.end()
  }
}

/** Certificates for everybody who has none yet; only who vouches for servers where no TLS is wanted between processes. */
async function prepareCertificates(plan: Plan): Promise<(name: string) => Told> {
  const place = placeOf(plan)
  if (!plan.isTls) {
    if (plan.caFile === undefined) return () => ({})
    const file = await copyAuthorities(plan, [plan.caFile], SERVERS)
    return () => ({ BATON_TLS_CA_FILE: file })
  }
  const kept = new Map((await listCertificates(place)).map((one) => [one.name, one.hosts]))
  const wanted = [...plan.processes, 'operator' as const].map((name) => ({
    name,
    hosts: name === 'operator' ? OWN_MACHINE : [...new Set([plan.hosts[name], ...OWN_MACHINE])],
  }))
  const missing = wanted.filter(({ name }) => !kept.has(name))
  if (missing.length > 0) await addCertificates(place, missing, CERTIFICATE_DAYS)
  const moved = plan.processes.find((name) => kept.get(name)?.includes(plan.hosts[name]) === false)
  if (moved !== undefined) throw certificateOfOtherHost(plan, moved)
  const servers = await authoritiesOfServers(plan)
  return (name) => {
    const { certificateFile, keyFile } = certificateFiles(place, name)
    return {
      BATON_TLS_CERT_FILE: certificateFile,
      BATON_TLS_KEY_FILE: keyFile,
      BATON_TLS_CA_FILE: authorityFile(place),
      ...(name === 'operator' ? servers?.operator : servers?.process),
    }
  }
}

/**
 * Who vouches for Postgres and Redis is believed as the machine's own authorities are: for servers. Nobody of theirs may call
 * a process, as who is in BATON_TLS_CA_FILE may; a command, which nobody calls, has both there.
 */
async function authoritiesOfServers(plan: Plan) {
  if (plan.caFile === undefined) return undefined
  const both = [authorityFile(placeOf(plan)), plan.caFile]
  return {
    process: { NODE_EXTRA_CA_CERTS: await copyAuthorities(plan, [plan.caFile], SERVERS) },
    operator: { BATON_TLS_CA_FILE: await copyAuthorities(plan, both, 'operator-ca.pem') },
  }
}

/** Whoever vouches for Postgres and Redis, where that is said. */
const SERVERS = 'servers.pem'
const serversFile = (plan: Plan): string => join(placeOf(plan).folder, SERVERS)

async function copyAuthorities(plan: Plan, from: readonly string[], name: string): Promise<string> {
  const to = join(placeOf(plan).folder, name)
  const texts = await Promise.all(from.map((file) => readFile(file, 'utf8'))).catch(
    (cause: unknown) => {
      throw permanent('BATON_FILE_NOT_FOUND', `${from.join(' or ')} cannot be read`, {
        cause,
        fix: 'Name with --ca a PEM file with the certificates of who vouches for Postgres and Redis.',
      })
    },
  )
  await mkdir(dirname(to), { recursive: true, mode: 0o755 })
  await writeFile(to, texts.map((text) => `${text.trim()}\n`).join(''), { mode: 0o644 })
  return to
}

/** As the processes of one machine call each other, and probes. */
const OWN_MACHINE = ['localhost', '127.0.0.1', '::1']

const placeOf = ({ folder }: Plan) => ({
  folder: join(folder, 'tls'),
  authorityFolder: join(folder, 'tls', 'authority'),
})

const certificateOfOtherHost = ({ folder, hosts }: Plan, name: ProcessName) =>
  permanent(
    'BATON_CERTIFICATE_PRESENT',
    `the certificate of ${name} is for another host than ${hosts[name]}`,
    {
      fix: `Move ${join(folder, 'tls', `${name}.crt`)} and its key away and run init again: it makes another.`,
    },
  )

interface KnownPerson extends PlannedPerson {
  readonly entry: string
  /** Undefined where the person made the key. */
  readonly privateKey: string | undefined
}

/** Keys that were made before stay, also where they were handed over and lie here no more. */
function ensurePeople(plan: Plan, before: Told): readonly KnownPerson[] {
  const known = (before['BATON_PEOPLE'] ?? '').split(',')
  return plan.people.map(({ name, roles, entry: given }) => {
    const kept = readSettingsFile(personFile(plan, name))?.['BATON_PERSON_KEY']
    const handedOver = known.find((one) => one.startsWith(`${name}:${roles.join('+')}:`))
    const entry = given ?? (kept === undefined ? handedOver : undefined)
    if (entry !== undefined) return { name, roles, entry, privateKey: undefined }
    const privateKey = kept ?? newSigningKey()
    const { publicKey } = readDecisionSigner(privateKey)
    return { name, roles, entry: personEntry(name, roles, publicKey), privateKey }
  })
}

const newSigningKey = (): string =>
  generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64')

const personFile = (plan: Plan, name: string): string => fileOf(plan, join('people', name))

/** Programs, the operator, whoever collects metrics, and each person by their roles. Keys that were made before stay, as those of people do. */
function ensureCallers(plan: Plan, before: Told): readonly Caller[] {
  const known = (before['BATON_API_KEYS'] ?? '').split(',')
  const wanted = [
    { operator: 'operator', scopes: scopesOfRoles(['admin']), file: fileOf(plan, 'operator') },
    { operator: 'program', scopes: scopesOfRoles(['developer']), file: fileOf(plan, 'program') },
    { operator: 'prometheus', scopes: 'metrics:read', file: fileOf(plan, 'prometheus') },
    ...plan.people.map(({ name, roles }) => ({
      operator: name,
      scopes: scopesOfRoles(roles),
      file: personFile(plan, name),
    })),
  ]
  return wanted.map(({ operator, scopes, file }) => {
    const kept = readSettingsFile(file)?.['BATON_API_KEY']
    if (kept !== undefined)
      return { operator, key: kept, entry: apiKeyEntry(kept, { operator, scopes }) }
    const handedOver = known.find((entry) => entry.includes(`@${operator}:${scopes}:`))
    return handedOver === undefined
      ? { operator, ...createApiKey({ operator, scopes }) }
      : { operator, key: undefined, entry: handedOver }
  })
}

const fileOf = ({ folder }: Plan, name: string): string => join(folder, name, SETTINGS_FILE)

/** As each process connects: without what whoever runs this shows the server. */
function urlsOf({ urls }: Databases, plan: Plan): Known['urls'] {
  const operational = searchOf(plan, plan.databaseUrl)
  const audit = searchOf(plan, plan.auditDatabaseUrl)
  const on = (url: string, search: string): string => {
    const own = new URL(url)
    own.search = search
    return own.href
  }
  return {
    gateway: on(urls.gateway, operational),
    delivery: on(urls.delivery, operational),
    auditWriter: on(urls.auditWriter, audit),
    auditReader: on(urls.auditReader, audit),
    auditEraser: on(urls.auditEraser, audit),
    auditSealer: on(urls.auditSealer, audit),
    auditArchiver: on(urls.auditArchiver, audit),
    vault: on(urls.vault, audit),
  }
}

function searchOf(plan: Plan, adminUrl: string): string {
  const url = new URL(adminUrl)
  const { searchParams } = url
  const isElsewhere = serversOfUrl(url).some(({ host }) => !isLoopback(host))
  if (plan.caFile !== undefined && isElsewhere) {
    if (!searchParams.has('sslmode')) searchParams.set('sslmode', 'verify-full')
    if (!searchParams.has('sslrootcert')) searchParams.set('sslrootcert', serversFile(plan))
  }
  return searchParams.toString()
}

async function writeFolders(known: Known, people: readonly KnownPerson[]): Promise<void> {
  const { plan, callers } = known
  const { folder } = plan
  const write = (name: string, told: Told) =>
    writePrivate(join(folder, name, SETTINGS_FILE), formatSettings(told))
  const all = processSettings(known)
  for (const name of plan.processes) await write(name, all[name])
  await write('operator', operatorSettings(known))
  await write('admin', adminSettings(known))
  for (const name of ['auditor', 'sealer', 'archiver', 'operator'])
    await copyFile(sealFiles(folder).policy, join(folder, name, POLICY))
  for (const { operator, key } of callers) {
    if (operator === 'operator' || key === undefined) continue
    const person = people.find(({ name }) => name === operator)
    await write(person === undefined ? operator : join('people', operator), {
      ...callerSettings(known, key),
      BATON_PERSON_KEY: person?.privateKey,
    })
  }
  await writePrivate(recordFile(folder), `${JSON.stringify(recordOf(plan), null, 2)}\n`)
  for (const [name, text] of systemdFiles(plan, { root: ROOT, moduleAt, node: process.execPath }))
    await writePrivate(join(folder, 'systemd', name), text)
}

function recordOf(plan: Plan): InstallationRecord {
  const processes = [...readyUrls(plan)].map(([name, url]) => ({ name, url }))
  const witness = { name: 'witness', url: addressesOf(plan)('witness') }
  return { processes: plan.processes.includes('witness') ? [...processes, witness] : processes }
}

/** Where processes keep what they must not lose; only its owner looks into it. */
async function makeStateFolders({ files, cold }: Plan): Promise<void> {
  const folders = [files.sealerState, files.anchor, files.witnessState].map((file) => dirname(file))
  for (const folder of [...folders, ...('folder' in cold ? [cold.folder] : [])]) {
    try {
      // Their users pass through what is above, and do not look around there.
      await mkdir(dirname(folder), { recursive: true, mode: 0o711 })
      await mkdir(folder, { recursive: true, mode: 0o700 })
    } catch (cause) {
      throw permanent('BATON_FILE_NOT_WRITTEN', `${folder} cannot be made`, {
        cause,
        fix: 'Make it, or name other places with --state, --anchor and --cold.',
      })
    }
  }
}

/** One that has cosigned nothing yet begins here, once; from then on it has a state to lose. */
async function beginWitness({ processes, files }: Plan): Promise<void> {
  if (!processes.includes('witness')) return
  const state = `${JSON.stringify({ v: 1, heads: [] })}\n`
  await writeFile(files.witnessState, state, { mode: 0o600, flag: 'wx' }).catch(isThere)
}

function isThere(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
}

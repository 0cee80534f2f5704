// What an installation on servers of one's own shall be, as `init` was told: checked before anything is made.
import { join, resolve } from 'node:path'
import { OPERATOR, parsePeople, ROLES } from '@baton/ledger'
import type { Role } from '@baton/ledger'
import { isLoopback, permanent, readRedisAddress, readServerList } from '@baton/runtime'

/** Each a process of its own, by the folder of `services/` it stands in. */
const PROCESSES = [
  'gateway',
  'relay',
  'receiver',
  'auditor',
  'sealer',
  'archiver',
  'witness',
] as const
export type ProcessName = (typeof PROCESSES)[number]

/** What was said on the command line, or answered when it was asked. */
export interface InitFlags {
  readonly database: string
  readonly auditDatabase?: string | undefined
  readonly redis?: string | undefined
  readonly environment: string
  /** `process=name` or one name for all. */
  readonly host: readonly string[]
  /** Of the gateway; all others follow it. */
  readonly firstPort: number
  readonly tls?: boolean | undefined
  readonly plaintext?: boolean | undefined
  readonly ca?: string | undefined
  readonly clientCertificates: boolean
  /** `name:role+role`, or `name:role+role:publicKey` of who has a key already. */
  readonly person: readonly string[]
  readonly tenant: readonly string[]
  /** `VERIFIERKEY URL` of a witness that others run. */
  readonly witness?: string | undefined
  readonly anchor?: string | undefined
  /** A folder, or `s3://bucket`. */
  readonly cold?: string | undefined
  readonly state?: string | undefined
  readonly agents?: string | undefined
}

export interface PlannedPerson {
  readonly name: string
  readonly roles: readonly Role[]
  /** Undefined where `init` makes the key and hands it over. */
  readonly entry: string | undefined
}

export interface Plan {
  readonly folder: string
  readonly databaseUrl: string
  readonly auditDatabaseUrl: string
  /** Undefined where receivers relay for themselves. */
  readonly redisUrl: string | undefined
  readonly environment: string
  /** Only those that run here: no relay without Redis, no witness where others run it. */
  readonly processes: readonly ProcessName[]
  /** How others reach each. */
  readonly hosts: Readonly<Record<ProcessName, string>>
  readonly firstPort: number
  readonly isTls: boolean
  readonly isPlaintextAllowed: boolean
  /** Certificates of whoever vouches for databases and Redis, beside Baton's own authority. */
  readonly caFile: string | undefined
  /** Whether programs and people have to show a certificate to the gateway too. */
  readonly areClientsCertified: boolean
  readonly people: readonly PlannedPerson[]
  readonly tenants: readonly string[]
  readonly otherWitness: OtherWitness | undefined
  readonly files: {
    readonly sealerState: string
    readonly witnessState: string
    readonly anchor: string
  }
  readonly cold: { readonly folder: string } | { readonly bucket: string }
  /** Modules of agents that receivers host; undefined hosts those of the main job. */
  readonly agents: string | undefined
}

export interface OtherWitness {
  readonly verifierKey: string
  readonly url: string
}

/** Where the state of processes is kept, unless it is said. */
const STATE = 'state'
const PEOPLE_UNTOLD = ['reviewer-1:reviewer+compliance', 'reviewer-2:reviewer+compliance']

/** Throws BATON_USAGE that names the option which is wrong and how to write it. */
export function makePlan(folder: string, flags: InitFlags): Plan {
  const state = resolve(folder, flags.state ?? STATE)
  const otherWitness = flags.witness === undefined ? undefined : readWitness(flags.witness)
  const processes = PROCESSES.filter(
    (name) =>
      (name !== 'relay' || flags.redis !== undefined) &&
      (name !== 'witness' || otherWitness === undefined),
  )
  const hosts = readHosts(flags.host)
  const areApart = processes.some((name) => !isLoopback(hosts[name]))
  const isPlaintextAllowed = flags.plaintext === true
  const isTls = flags.tls ?? (areApart && !isPlaintextAllowed)
  if (areApart && !isTls && !isPlaintextAllowed) throw PLAINTEXT_UNSAID
  const plan = {
    folder,
    databaseUrl: readDatabase('--database', flags.database),
    auditDatabaseUrl: readDatabase('--audit-database', flags.auditDatabase ?? flags.database),
    redisUrl: readRedis(flags.redis),
    environment: flags.environment,
    processes,
    hosts,
    firstPort: flags.firstPort,
    isTls,
    isPlaintextAllowed,
    caFile: flags.ca === undefined ? undefined : resolve(flags.ca),
    areClientsCertified: flags.clientCertificates,
    people: readPeople(flags.person.length === 0 ? PEOPLE_UNTOLD : flags.person),
    tenants: flags.tenant,
    otherWitness,
    files: {
      sealerState: join(state, 'sealer', 'sealer.json'),
      witnessState: join(state, 'witness', 'witness.json'),
      anchor: resolve(flags.anchor ?? join(state, 'anchor', 'anchor.jsonl')),
    },
    cold: readCold(flags.cold ?? join(state, 'cold')),
    agents: flags.agents === undefined ? undefined : resolve(flags.agents),
  }
  requirePlainPaths(plan)
  return plan
}

/** The address may hold a password, so what is wrong with it is said without it. */
function readDatabase(option: string, text: string): string {
  const read = readServerList(text)
  const problem = 'problem' in read ? read.problem : undefined
  if ('value' in read && /^postgres(?:ql)?:\/\//.test(text) && URL.canParse(read.value))
    return read.value
  throw permanent('BATON_USAGE', `${option} cannot be read${problem ? `: ${problem}` : ''}`, {
    fix: 'Write postgres://postgres:PASSWORD@db.example:5432/postgres, or db-1.example:5432,db-2.example:5432 where a standby may take over; characters of a password that mean something in a URL are written as %40 and the like.',
  })
}

const PLAINTEXT_UNSAID = permanent(
  'BATON_USAGE',
  'processes on several machines, and no TLS between them',
  {
    fix: 'Leave out --no-tls, and certificates are made; or say --plaintext where the network itself encrypts.',
  },
)

function readRedis(url: string | undefined): string | undefined {
  if (url === undefined) return undefined
  const read = readRedisAddress(url)
  if (!('problem' in read)) return url
  throw permanent('BATON_USAGE', `--redis cannot be read: ${read.problem}`, {
    fix: 'Write one server as rediss://:PASSWORD@redis.example:6379, a primary that Sentinels name as rediss+sentinel://:PASSWORD@s1:26379,s2:26379/NAME, a Cluster as rediss+cluster://:PASSWORD@h1:6379,h2:6379.',
  })
}

function readHosts(given: readonly string[]): Readonly<Record<ProcessName, string>> {
  const hosts = new Map<string, string>(PROCESSES.map((name) => [name, '127.0.0.1']))
  for (const text of given) {
    const [name, host] = text.includes('=') ? splitOnce(text, '=') : [undefined, text]
    if (!/^[\w.:-]{1,253}$/.test(host))
      throw wrong('--host', text, 'Write a name or address, as gateway=baton.example.com.')
    if (name !== undefined && !hosts.has(name))
      throw wrong('--host', text, `Processes are ${PROCESSES.join(', ')}.`)
    for (const one of name === undefined ? PROCESSES : [name]) hosts.set(one, host)
  }
  return Object.fromEntries(hosts) as Record<ProcessName, string>
}

function readPeople(given: readonly string[]): readonly PlannedPerson[] {
  const people = given.map((text) => {
    const [name = '', roleText = '', key] = text.split(':')
    const roles = roleText.split('+')
    const unknown = roles.find((role) => !isRole(role))
    if (!NAME.test(name) || unknown !== undefined)
      throw wrong(
        '--person',
        text,
        `Write name:role, as ann:reviewer+compliance; roles are ${ROLES.join(', ')}.`,
      )
    return { name, roles: roles.filter(isRole), entry: key === undefined ? undefined : text }
  })
  // Throws for a key that is none.
  parsePeople(people.flatMap(({ entry }) => entry ?? []).join(','))
  const names = people.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) throw wrong('--person', twice, 'Name everybody once, with all roles.')
  const taken = names.find((name) => NOT_PEOPLE.has(name))
  if (taken !== undefined) throw wrong('--person', taken, 'Programs and operators have that name.')
  return people
}

/** Who else gets a key for the gateway. */
const NOT_PEOPLE: ReadonlySet<string> = new Set(['operator', 'program', 'prometheus'])
const NAME = new RegExp(`^${OPERATOR}$`)
const isRole = (text: string): text is Role => (ROLES as readonly string[]).includes(text)

function readWitness(text: string): OtherWitness {
  const [verifierKey = '', url = ''] = text.trim().split(/\s+/)
  if (/^[^\s+]+\+[0-9a-f]{8}\+[\w+/=]+$/.test(verifierKey) && URL.canParse(url))
    return { verifierKey, url }
  throw wrong(
    '--witness',
    text,
    'Write its verifier key and its URL, as it logs the key when it starts: "name+hash+key https://witness.example.com".',
  )
}

function readCold(text: string): Plan['cold'] {
  const bucket = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?$/.exec(text)?.[1]
  if (bucket !== undefined) return { bucket }
  if (text.includes('://')) throw wrong('--cold', text, 'Write a folder, or s3://bucket.')
  return { folder: resolve(text) }
}

/** systemd, compose and Node read files of settings with other rules for quotes; what needs none is read alike. */
function requirePlainPaths({ folder, files, cold, agents, caFile }: Plan): void {
  const paths = [
    folder,
    ...Object.values(files),
    'folder' in cold ? cold.folder : '',
    agents,
    caFile,
  ]
  const strange = paths.find((path) => path !== undefined && !/^[\w./+@:-]*$/.test(path))
  if (strange !== undefined)
    throw permanent(
      'BATON_USAGE',
      `${JSON.stringify(strange)} has characters that files of settings cannot hold without quotes`,
      {
        fix: 'Take a folder of letters, digits, dots, dashes and underscores, without spaces.',
      },
    )
}

function splitOnce(text: string, at: string): readonly [string, string] {
  const index = text.indexOf(at)
  return [text.slice(0, index), text.slice(index + at.length)]
}

const wrong = (option: string, text: string, fix: string) =>
  permanent('BATON_USAGE', `${option} ${JSON.stringify(text)} cannot be read`, { fix })

// Makes the installation with `baton init`, or brings it up to date, and gives each container its own part. Postgres and Redis run by now.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { baton } from './command.mjs'
import { certificates, HOME, tell } from './tell.mjs'

const PROCESSES = ['gateway', 'relay', 'receiver', 'auditor', 'sealer', 'archiver', 'witness']

const password = (name) => readFileSync(join(HOME, 'servers', `${name}.password`), 'utf8')
const people = (process.env.BATON_PERSONS ?? '').split(',').filter((text) => text !== '')

// Passwords go by the environment: arguments are shown to everybody on the machine.
baton(
  [
    'init',
    HOME,
    ...PROCESSES.flatMap((name) => ['--host', `${name}=${name}`]),
    ...people.flatMap((person) => ['--person', person]),
    '--environment',
    process.env.BATON_ENVIRONMENT ?? 'production',
    '--state',
    '/var/lib/baton',
    '--ca',
    join(HOME, 'tls', 'ca.crt'),
  ],
  {
    BATON_DATABASE_ADMIN_URL: `postgres://postgres:${password('postgres')}@postgres:5432/postgres`,
    BATON_REDIS_URL: `rediss://:${password('redis')}@redis:6379`,
    BATON_TLS_CA_FILE: join(HOME, 'tls', 'ca.crt'),
    BATON_TLS_CERT_FILE: join(HOME, 'tls', 'operator.crt'),
    BATON_TLS_KEY_FILE: join(HOME, 'tls', 'operator.key'),
  },
)
/** Who vouches for Postgres and Redis, and for both kinds to the operator: settings name these files beside `ca.crt`. */
const vouching = readdirSync(join(HOME, 'tls'))
  .filter((file) => file.endsWith('.pem'))
  .map((file) => [join('tls', file), join('tls', file)])
for (const name of PROCESSES) tell(name, [[name, name], ...certificates(name), ...vouching])
const own = ['operator', 'people'].filter((name) => existsSync(join(HOME, name)))
tell('operator', [...own.map((name) => [name, name]), ...certificates('operator'), ...vouching])

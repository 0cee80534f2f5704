// Before Postgres and Redis start for the first time: their passwords and certificates. Later it renews certificates, and changes nothing else.
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { quietly } from './command.mjs'
import { certificates, HOME, tell } from './tell.mjs'

const SERVERS = join(HOME, 'servers')
const PLACE = ['--dir', join(HOME, 'tls'), '--authority', join(HOME, 'tls', 'authority')]
/** Each under the name by which the other containers reach it; the operator and who collects metrics are called by nobody. */
const CERTIFIED = {
  postgres: ['postgres'],
  redis: ['redis'],
  collector: ['collector'],
  operator: [],
  prometheus: [],
}
const LOCAL = ['localhost', '127.0.0.1', '::1']

/** Characters that no URL and no file of settings has to escape. */
function password(name) {
  const file = join(SERVERS, `${name}.password`)
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString('hex'), { mode: 0o600 })
  return readFileSync(file, 'utf8')
}

const redisConf = (word) => `requirepass ${word}
port 0
tls-port 6379
tls-cert-file /run/told/redis.crt
tls-key-file /run/told/redis.key
tls-ca-cert-file /run/told/ca.crt
tls-auth-clients yes
appendonly yes
appendfsync everysec
save ""
maxmemory 512mb
maxmemory-policy noeviction
`

const PG_HBA = `# Who is inside the container, where only Postgres and its health check are, and everybody else over TLS, with a certificate and a password.
local     all all              trust
hostnossl all all 127.0.0.1/32 trust
hostssl   all all all          scram-sha-256 clientcert=verify-ca
`

function certify() {
  const missing = Object.entries(CERTIFIED).filter(
    ([name]) => !existsSync(join(HOME, 'tls', `${name}.crt`)),
  )
  for (const [name, host] of missing) {
    const hosts = [...host, ...LOCAL].flatMap((one) => ['--host', one])
    quietly(['certs', 'new', name, ...hosts, ...PLACE])
  }
  quietly(['certs', 'renew', ...PLACE])
}

mkdirSync(SERVERS, { recursive: true, mode: 0o700 })
password('postgres')
writeFileSync(join(SERVERS, 'redis.conf'), redisConf(password('redis')), { mode: 0o600 })
writeFileSync(join(SERVERS, 'pg_hba.conf'), PG_HBA, { mode: 0o600 })
certify()
tell(
  'postgres',
  [
    ['servers/postgres.password', 'password'],
    ['servers/pg_hba.conf', 'pg_hba.conf'],
    ...certificates('postgres', '.'),
  ],
  'others',
)
tell(
  'redis',
  [
    ['servers/redis.password', 'password'],
    ['servers/redis.conf', 'redis.conf'],
    ...certificates('redis', '.'),
  ],
  'others',
)
tell('monitoring', [...certificates('prometheus'), ...certificates('collector')], 'others')

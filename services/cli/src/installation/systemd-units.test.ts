// The script that installs units gives each process what is its own, and takes nothing that stands elsewhere.
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { makePlan } from './plan.ts'
import { systemdFiles } from './systemd-units.ts'

it('makes or enters a folder elsewhere, and never takes what is in it', () => {
  const plan = makePlan('/etc/baton', {
    database: 'postgres://postgres:secret@db.example:5432/postgres',
    environment: 'production',
    host: [],
    firstPort: 8_420,
    clientCertificates: false,
    person: [],
    tenant: [],
    anchor: '/srv/anchor.jsonl',
    cold: '/mnt/cold',
  })
  const script = systemdFiles(plan, {
    root: '/opt/baton',
    moduleAt: join,
    node: '/usr/bin/node',
  }).get('install.sh')
  expect(script).toContain('\nenter baton-log /srv\n')
  expect(script).toContain('\nenter baton-log /mnt/cold\n')
  expect(script).toContain('\nown baton-log /etc/baton/state/sealer\n')
  // Root writes there again: what a process could put into its folder would lead root elsewhere.
  expect(script).toContain('\nlend baton-log /etc/baton/auditor\n')
  expect(script).toContain('  chown -R "root:$1" "$2"\n')
  expect(script).not.toMatch(/^own \S+ \/etc\/baton\/(?!state\/|tls\/)/m)
  expect(script).not.toMatch(/^own \S+ \/(?!etc\/baton\/)/m)
})

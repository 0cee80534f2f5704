// The files by which systemd runs an installation on one machine: a unit for each process, users of their own, one target.
import { dirname, join } from 'node:path'
import type { Plan, ProcessName } from './plan.ts'
import { SETTINGS_FILE } from './settings-file.ts'

interface Machine {
  /** The checkout, or wherever the programs stand. */
  readonly root: string
  /** The module at a place below it. */
  readonly moduleAt: (...place: readonly string[]) => string
  readonly node: string
}

/** By the name of each file. */
export function systemdFiles(plan: Plan, machine: Machine): ReadonlyMap<string, string> {
  return new Map([
    ...plan.processes.map(
      (name) => [`baton-${name}.service`, serviceUnit(plan, name, machine)] as const,
    ),
    ['baton.target', targetUnit(plan)],
    ['install.sh', installScript(plan, machine)],
  ])
}

/** A process is asked to drain for 25 s, and ends by itself five seconds later. */
const STOP_MAX_S = 40

function serviceUnit(plan: Plan, name: ProcessName, { root, moduleAt, node }: Machine): string {
  const writes = foldersWritten(plan, name)
  return `[Unit]
Description=Baton ${name}
Wants=network-online.target
After=network-online.target
PartOf=baton.target
StartLimitIntervalSec=0

[Service]
Type=exec
User=${userOf(name)}
Group=${userOf(name)}
WorkingDirectory=${root}
EnvironmentFile=${join(plan.folder, name, SETTINGS_FILE)}
ExecStart=${node} ${moduleAt('services', name, 'src', 'main')}
Restart=always
RestartSec=2
TimeoutStopSec=${STOP_MAX_S}
KillMode=mixed
LimitNOFILE=65536
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=read-only
PrivateTmp=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectControlGroups=yes
ProtectClock=yes
# A server that listens at every address asks the kernel over netlink which there are.
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX AF_NETLINK
RestrictNamespaces=yes
RestrictSUIDSGID=yes
LockPersonality=yes
SystemCallArchitectures=native
${writes.map((folder) => `ReadWritePaths=${folder}\n`).join('')}
[Install]
WantedBy=baton.target
`
}

const targetUnit = ({ processes }: Plan): string => `[Unit]
Description=Baton
Wants=${processes.map((name) => `baton-${name}.service`).join(' ')}

[Install]
WantedBy=multi-user.target
`

/** Who keeps the log shares its files, which their owner alone may read; nobody else has a user in common. */
const LOG_KEEPERS: ReadonlySet<ProcessName> = new Set(['auditor', 'sealer', 'archiver'])
const userOf = (name: ProcessName): string => `baton-${LOG_KEEPERS.has(name) ? 'log' : name}`

function foldersWritten({ files, cold }: Plan, name: ProcessName): readonly string[] {
  const coldFolder = 'folder' in cold ? [cold.folder] : []
  if (name === 'sealer') return [dirname(files.sealerState), dirname(files.anchor)]
  if (name === 'witness') return [dirname(files.witnessState)]
  return name === 'archiver' ? coldFolder : []
}

const isWithin = (folder: string, path: string): boolean => path.startsWith(`${folder}/`)

/** Run as root on each machine; safe to run again. */
function installScript(plan: Plan, { root, node }: Machine): string {
  const { folder, processes } = plan
  const users = [...new Set(processes.map(userOf))]
  const owned = processes.flatMap((name) => [
    `lend ${userOf(name)} ${join(folder, name)}`,
    ...foldersWritten(plan, name).map(
      (path) => `${isWithin(folder, path) ? 'own' : 'enter'} ${userOf(name)} ${path}`,
    ),
    ...(plan.isTls ? [`own ${userOf(name)} ${join(folder, 'tls', `${name}.key`)}`] : []),
  ])
  return `#!/bin/sh
# Makes the users of Baton's processes, gives each its files, and starts everything. As root; safe to run again.
set -eu
[ "$(id -u)" = 0 ] || { echo "Run it as root: sudo sh $0" >&2; exit 1; }
user() { id "$1" >/dev/null 2>&1 || useradd --system --user-group --no-create-home --home-dir / --shell /usr/sbin/nologin "$1"; }
own() { mkdir -p "$2" 2>/dev/null || true; chown -R "$1:$1" "$2"; chmod go-rwx "$2"; }
# Settings are systemd's to read; what lies beside them its process reads too. Root writes here again, so nobody else may put anything there.
lend() {
  chown -R "root:$1" "$2"
  chmod 0750 "$2"
  chmod 0600 "$2/settings.env"
  if [ -f "$2/policy" ]; then chmod 0640 "$2/policy"; fi
}
# What others have in a folder elsewhere stays theirs: it is made where it is missing, given where init made it (empty, root's alone), and never taken.
enter() {
  [ -d "$2" ] || install -d -o "$1" -g "$1" -m 0700 "$2"
  [ "$(stat -c %a:%u "$2"):$(ls -A "$2")" = 700:0: ] && chown "$1:$1" "$2"
  runuser -u "$1" -- test -w "$2" || { echo "Let $1 write in $2, then run this again." >&2; exit 1; }
}
${users.map((user) => `user ${user}`).join('\n')}
# Nobody but root looks around in it, and everybody gets through to their own.
chown root:root ${folder}
chmod 0711 ${folder}
${plan.isTls ? `chmod 0711 ${join(folder, 'tls')}\n` : ''}${owned.join('\n')}
for user in ${users.join(' ')}; do
  runuser -u "$user" -- test -r ${join(root, 'package.json')} -a -x ${node} || {
    echo "$user cannot read ${root} or run ${node}: put the programs where everybody may read them, as /opt/baton, and run init again there" >&2
    exit 1
  }
done
cp ${join(folder, 'systemd')}/baton-*.service ${join(folder, 'systemd')}/baton.target /etc/systemd/system/
systemctl daemon-reload
systemctl enable ${processes.map((name) => `baton-${name}.service`).join(' ')} baton.target
systemctl restart baton.target
systemctl --no-pager list-units 'baton-*'
`
}

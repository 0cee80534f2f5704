// What the archives of an image's own distribution know against it: packages that they have newer, and which vulnerabilities those mend.
import { spawnSync } from 'node:child_process'

export interface Outdated {
  readonly name: string
  readonly installed: string
  readonly newer: string
  /** The archive that has it, for example `Debian-Security:13/stable-security`. */
  readonly from: string
  /** What the newer package's own changelog says that it mends; undefined where it does not say. */
  readonly mends: readonly string[] | undefined
}

export interface ImageScan {
  /** For example `Debian GNU/Linux 13 (trixie)`. */
  readonly system: string
  readonly packages: number
  /** What was asked, with the date on which the distribution signed it. */
  readonly archives: readonly { readonly suite: string; readonly signed: string }[]
  readonly outdated: readonly Outdated[]
}

/** Runs in a container of the image, as root, and says what it finds in parts. Nothing of the image is changed. */
const QUESTIONS = `
set -eu
export LC_ALL=C DEBIAN_FRONTEND=noninteractive
apt='apt-get --quiet=2 --option=APT::Sandbox::User=root'
part() { printf '\\n==== %s\\n' "$*"; }
part system; . /etc/os-release; echo "$PRETTY_NAME"
part packages; dpkg-query --show --showformat='\${Package}\\n' | wc -l
$apt update --error-on=any >&2
part archives
told() { sed -n "s/^$1: //p" "$2" | head -n 1; }
for file in /var/lib/apt/lists/*Release; do echo "$(told Codename "$file")|$(told Date "$file")"; done
part outdated
$apt --just-print dist-upgrade | grep '^Inst [^ ]* \\[' > /tmp/outdated || true
cat /tmp/outdated
cd /tmp
while read -r _ name _; do
  part changelog "$name" "$(dpkg-query --show --showformat='\${source:Version}\\n' "$name" | head -n 1)"
  $apt download "$name" >&2
  for package in "./\${name}"_*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar --extract --to-stdout --wildcards './usr/share/doc/*/changelog.Debian*gz' 2>&- | gunzip 2>&- | head -n 400 || true
  done
done < /tmp/outdated
part end
`
const ANSWER_MAX_MS = 300_000
const ANSWER_BYTES_MAX = 64 * 1024 * 1024

/** Throws with words where it cannot be said. */
export function scanImage(image: string): ImageScan {
  const how = ['--rm', '--pull=never', '--network=host', '--user=0', '--entrypoint=sh']
  const asked = ['run', ...how, image, '-c', QUESTIONS]
  const { status, stdout, stderr, error } = spawnSync('docker', asked, {
    encoding: 'utf8',
    timeout: ANSWER_MAX_MS,
    maxBuffer: ANSWER_BYTES_MAX,
  })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(stderr.trim() || `docker run ended with ${status}`)
  return readAnswers(stdout)
}

/** Throws where the answers are not whole, or no archive of security updates was among those asked. */
export function readAnswers(text: string): ImageScan {
  const parts = text
    .split(/^==== /m)
    .slice(1)
    .map((part) => {
      const end = part.indexOf('\n')
      return { title: part.slice(0, end), body: part.slice(end + 1).trim() }
    })
  if (parts.at(-1)?.title !== 'end') throw new Error('the container ended before it said all')
  const bodyOf = (title: string) => parts.find((part) => part.title === title)?.body ?? ''
  const archives = bodyOf('archives').split('\n').flatMap(readArchive)
  if (!archives.some(({ suite }) => suite.endsWith('-security')))
    throw new Error('the image names no archive of security updates')
  return {
    system: bodyOf('system'),
    packages: Number(bodyOf('packages')),
    archives,
    outdated: [...bodyOf('outdated').matchAll(OUTDATED)].map((match) => {
      const [, name = '', installed = '', newer = '', from = ''] = match
      return { name, installed, newer, from, mends: mendedBy(name, parts) }
    }),
  }
}

/** `Inst name [installed] (newer archive [architecture])` */
const OUTDATED = /^Inst (\S+) \[(\S+)\] \((\S+) (.+) \[\S+\]\)/gm

function readArchive(line: string): ImageScan['archives'] {
  const [suite = '', signed = ''] = line.split('|')
  return suite === '' ? [] : [{ suite, signed }]
}

/** Of the entries above that of the version that is installed; the source of a package has a version of its own. */
function mendedBy(
  name: string,
  parts: readonly { readonly title: string; readonly body: string }[],
): readonly string[] | undefined {
  const part = parts.find(({ title }) => title.startsWith(`changelog ${name} `))
  if (part === undefined) return undefined
  const installed = part.title.split(' ')[2] ?? ''
  const lines = part.body.split('\n')
  const end = lines.findIndex((line) => /^\S/.test(line) && line.includes(` (${installed}) `))
  if (end < 0) return undefined
  const newer = lines.slice(0, end).join('\n')
  return [...new Set([...newer.matchAll(/CVE-\d{4}-\d{4,}/g)].map(([id]) => id))].toSorted()
}

/** For a person to read, on stdout. */
export function tellScan({ system, packages, archives, outdated }: ImageScan): string {
  const asked = archives.map(({ suite, signed }) => `  ${suite} as signed on ${signed}`)
  const rows = outdated.map(({ name, installed, newer, from, mends }) => {
    const why = mends === undefined ? 'nothing that can be read' : mends.join(' ')
    return `  ${name} ${installed} → ${newer} (${from}) mends ${why || 'no vulnerability by name'}`
  })
  return [
    `${system}, ${packages} packages, compared with`,
    ...asked,
    rows.length === 0 ? 'no package is older than what they have' : `${rows.length} are older:`,
    ...rows,
    '',
  ].join('\n')
}

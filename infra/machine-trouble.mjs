// Tells a fault of the machine from one of Baton: no space, nothing writable, no file handles, no memory; with its remedy.
// Node built-ins only: infra/boot.mjs uses it before anything is installed.

/** Each kind by what Node, Postgres, Redis and the system call it. */
const KINDS = [
  {
    seen: /\bENOSPC\b|\bEDQUOT\b|No space left on device|Disk quota exceeded/i,
    code: 'BATON_DISK_FULL',
    message: 'the disk is full',
    fix: 'Free some space there (`df -h`, `df -i`); infra/runbooks/disk-full.md says what may go. What runs goes on by itself then.',
  },
  {
    seen: /\bEROFS\b|Read-only file system/i,
    code: 'BATON_DISK_READ_ONLY',
    message: 'the file system takes no writes',
    fix: 'Mount it for writing (`mount -o remount,rw`), or name another folder with --home. What runs goes on by itself then.',
  },
  {
    seen: /\bEMFILE\b|\bENFILE\b|Too many open files|insufficient file descriptors|shared object file: Error 24/i,
    code: 'BATON_FILES_EXHAUSTED',
    message: 'there are no file handles left',
    fix: 'Raise the limit in this shell (`ulimit -n 4096`), or of the whole machine (`sysctl fs.file-max`).',
  },
  {
    seen: /\bENOMEM\b|Cannot allocate memory|out of memory|could not map anonymous shared memory|could not fork/i,
    code: 'BATON_MEMORY_EXHAUSTED',
    message: 'there is no memory left',
    fix: 'End other programs (`free -m`, `ps aux --sort -rss`), or raise the limit (`ulimit -v`, that of the container).',
  },
  {
    seen: /\bEAGAIN\b.*\b(?:spawn|fork)|\b(?:spawn|fork)\b.*\bEAGAIN\b|Resource temporarily unavailable/i,
    code: 'BATON_PROCESSES_EXHAUSTED',
    message: 'no more processes may be started',
    fix: 'End other programs, or raise the limit (`ulimit -u`, that of the container).',
  },
  {
    seen: /\bEACCES\b|\bEPERM\b/,
    code: 'BATON_FOLDER_NOT_ALLOWED',
    message: 'this user may not do that',
    fix: 'Give the folder to who runs Baton (`chown -R`), or name another one with --home.',
  },
]

const DEPTH_MAX = 5

/**
 * What is wrong with the machine, where that is what an error or the last words of a process say.
 * @param {unknown} problem
 */
export function machineTrouble(problem) {
  if (typeof problem === 'string') return ofText(problem)
  for (let error = problem, depth = 0; error instanceof Error && depth < DEPTH_MAX; depth += 1) {
    const found = ofText(`${error.code ?? ''} ${error.message}`)
    if (found) return found
    error = error.cause
  }
  return undefined
}

function ofText(text) {
  const kind = KINDS.find(({ seen }) => seen.test(text))
  if (kind === undefined) return undefined
  const { code, message, fix } = kind
  const where = /'(\/[^']+)'|"(\/[^"]+)"/.exec(text)
  const place = where?.[1] ?? where?.[2]
  return { code, message: place === undefined ? message : `${message}: ${place}`, fix }
}

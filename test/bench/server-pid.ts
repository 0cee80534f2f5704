// Which process listens on a loopback port, so that its CPU time can be read.
import { readdir, readFile, readlink } from 'node:fs/promises'

/** The listening process's id; 0 where /proc does not tell. */
export async function serverPid(port: number): Promise<number> {
  const inode = await listeningInode(port)
  if (inode === undefined) return 0
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  for (const pid of pids) if (await holds(pid, `socket:[${inode}]`)) return Number(pid)
  return 0
}

async function listeningInode(port: number): Promise<string | undefined> {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const table = await readFile('/proc/net/tcp', 'utf8').catch(() => '')
  const row = table
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .find((f) => f[1] === local && f[3] === '0A')
  return row?.[9]
}

async function holds(pid: string, socket: string): Promise<boolean> {
  const folder = `/proc/${pid}/fd`
  const names = await readdir(folder).catch(() => [] as string[])
  for (const name of names) {
    if ((await readlink(`${folder}/${name}`).catch(() => '')) === socket) return true
  }
  return false
}

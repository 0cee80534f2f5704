// The first three commands of a runbook, as its page has them.

interface FirstCommand {
  readonly command: string
  /** What the comment above it says. */
  readonly lookFor: string
}

/** The lines of the fence below the heading; a comment of several lines belongs to the command below it. */
export function commandsOf(page: string): readonly FirstCommand[] {
  const fence = /^## First three commands\n[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? ''
  const commands: FirstCommand[] = []
  let lookFor = ''
  for (const line of fence.split('\n').filter((one) => one !== '')) {
    if (line.startsWith('# ')) lookFor += line.slice(1)
    else {
      commands.push({ command: line, lookFor: lookFor.trim() })
      lookFor = ''
    }
  }
  return commands
}

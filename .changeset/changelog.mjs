// What a release writes into the changelog of a package: what its changesets say, and nothing of packages that nobody installs.

/** @param {{ summary: string }} changeset */
const getReleaseLine = async ({ summary }) => `- ${summary.trim().replaceAll('\n', '\n  ')}`

const getDependencyReleaseLine = async () => ''

// By this name the tool asks for it.
// eslint-disable-next-line import/no-default-export
export default { getReleaseLine, getDependencyReleaseLine }

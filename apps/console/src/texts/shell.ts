export const shell = {
  navigation: 'Pages',
  skip: 'Skip to the content',
  menu: 'Menu',
  signOut: 'Sign out',
  shortcuts: 'Keyboard shortcuts',
  evaluation: 'Evaluation',
  evaluationText: 'This server runs in evaluation mode, without a license.',
  licenseExpires: (expires: string, graceEnds: string) =>
    `The license of this server expires on ${expires}. A server that starts after ${graceEnds} makes no decisions. Renew the license.`,
  licenseExpired: (expires: string, graceEnds: string) =>
    `The license of this server expired on ${expires}. A server that starts after ${graceEnds} makes no decisions. Renew the license now.`,
  docs: 'API reference',
  pending: (n: number) => `${n} pending`,
} as const

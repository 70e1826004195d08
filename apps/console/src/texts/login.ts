export const login = {
  title: 'Sign in to Remit',
  key: 'Key',
  keyHint: 'The key goes to this server once and is not stored in the browser.',
  keyPlaceholder: 'rmk_…',
  signIn: 'Sign in',
  with: (label: string) => `Sign in with ${label}`,
  or: 'or',
  organization: 'Organization or e-mail address',
  organizationHint: 'Of an organization with an identity provider of its own.',
  continue: 'Continue to your organization',
  refused: 'This key is unknown or revoked.',
  noMethod:
    'Signing in with a key is switched off on this server, and no identity provider is set up.',
  findKey:
    'To create a key, run this command on the server. In a checkout, it begins with pnpm; in a container, the program of the image takes its arguments.',
} as const

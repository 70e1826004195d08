export const login = {
  title: 'Sign in to Remit',
  key: 'Key',
  keyHint: 'The key goes to this server once and is not stored in the browser.',
  keyPlaceholder: 'rmk_…',
  signIn: 'Sign in',
  with: (label: string) => `Sign in with ${label}`,
  or: 'or',
  refused: 'This key is unknown or revoked.',
  noMethod:
    'Signing in with a key is switched off on this server, and no identity provider is set up.',
  findKey: 'Create a key on the server with',
} as const

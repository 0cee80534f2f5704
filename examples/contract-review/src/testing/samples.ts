// Short texts in the wording of well-known licences, with invented holders.

export const MIT = `The MIT License (MIT)

Copyright (c) 2014-2016 Ada Example <ada@example.org> (https://ada.example.org)
Copyright (c) 2016, Grace (G.) Sample, Nobody Ltd. and other contributors

Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, subject to the following conditions:

The above copyright notice and this permission notice shall be included in
all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY. Ask Ada
Example, or @adaexample.`

export const BSD_3 = `// Copyright 2019 The Example Authors. All rights reserved.
//
// Redistribution and use in source and binary forms, with or without
// modification, are permitted provided that the following conditions are met:
//
// * Redistributions of source code must retain the above copyright notice.
// * Neither the name of the copyright holder nor the names of its contributors
//   may be used to endorse or promote products derived from this software.
//
// THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS "AS IS". IN NO EVENT SHALL
// THE COPYRIGHT HOLDER BE LIABLE FOR ANY DAMAGES.`

export const ISC = `Copyright (c) Isaac N. Vented and Contributors

Permission to use, copy, modify, and/or distribute this software for any
purpose with or without fee is hereby granted, provided that the above
copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES. IN NO
EVENT SHALL THE AUTHOR BE LIABLE FOR ANY DAMAGES WHATSOEVER.`

export const APACHE_2 = `Apache License
Version 2.0, January 2004

2. Grant of Copyright License. Subject to the terms of this License, each
Contributor hereby grants to You a perpetual copyright license.

3. Grant of Patent License. Each Contributor hereby grants to You a patent
license. If You institute patent litigation against any entity, then any patent
licenses granted to You under this License for that Work shall terminate as of
the date such litigation is filed.

4. Redistribution. You must give any other recipients of the Work a copy of this
License; and You must cause any modified files to carry prominent notices
stating that You changed the files; and You must retain all copyright notices.

6. Trademarks. This License does not grant permission to use the trade names.

7. Disclaimer of Warranty. The Work is provided on an "AS IS" BASIS.

8. Limitation of Liability. In no event and under no legal theory shall any
Contributor be liable to You for damages.

9. Accepting Warranty. You agree to indemnify, defend, and hold each Contributor
harmless for any liability incurred.`

export const AGPL_3_NOTICE = `This program is free software: you can redistribute it under the terms of the
GNU Affero General Public License as published by the Free Software Foundation,
either version 3 of the License, or (at your option) any later version.

This program is distributed WITHOUT ANY WARRANTY.`

export const MPL_2 = `Mozilla Public License Version 2.0

1.12. "Secondary License" means either the GNU General Public License, Version
2.0, or the GNU Affero General Public License, Version 3.0.

3.1. All distribution of Covered Software in Source Code Form, including any
Modifications, must be under the terms of this License.

5.1. The rights granted under this License will terminate automatically if You
fail to comply, unless You become compliant within 30 days after notice.`
